package storagetest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// armedRuns runs a scenario of three calls, with the given functions between them, and
// returns for each crash point the names of the tables that exist.
func armedRuns(t *testing.T, before, between, after func(*storagetest.Account)) [][]string {
	t.Helper()
	var left [][]string
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		if err := create(ctx, acct, "setup"); err != nil {
			return err
		}
		before(acct)
		if err := create(ctx, acct, "one1"); err != nil {
			return err
		}
		between(acct)
		err := create(ctx, acct, "two2")
		after(acct)
		return err
	}, func(t *testing.T, acct *storagetest.Account) {
		var names []string
		for p := acct.Tables().NewListTablesPager(nil); p.More(); {
			page, err := p.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, table := range page.Tables {
				names = append(names, *table.Name)
			}
		}
		left = append(left, names)
	})
	return left
}

// The crash points are the calls after the first Arm, even if the log is reset.
func TestTheCrashPointsBeginAtTheFirstArm(t *testing.T) {
	arm, reset, nothing := (*storagetest.Account).Arm, (*storagetest.Account).ResetLog, func(*storagetest.Account) {}
	want := [][]string{
		{"one1", "setup", "two2"},    // undisturbed
		{"setup"}, {"one1", "setup"}, // before and after the first
		{"setup"}, {"one1", "setup"}, // before and after the first arrives late
		{"one1", "setup"}, {"one1", "setup", "two2"}, // before and after the second
		{"one1", "setup"}, {"one1", "setup", "two2"}, // before and after the second arrives late
		{"one1", "setup", "two2"}, // there is no third call
	}
	for _, c := range []struct {
		name                   string
		before, between, after func(*storagetest.Account)
	}{
		{"armed", arm, nothing, nothing},
		{"armed with an empty log", func(a *storagetest.Account) { reset(a); arm(a) }, nothing, nothing},
		{"the log reset between the calls", arm, reset, nothing},
		{"the log reset at the end", arm, nothing, reset},
		{"armed twice", arm, arm, nothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := armedRuns(t, c.before, c.between, c.after); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("left are %q, want %q", got, want)
			}
		})
	}
}
