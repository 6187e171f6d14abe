package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// create creates a table unless it exists.
func create(ctx context.Context, acct *storagetest.Account, name string) error {
	_, err := acct.Tables().CreateTable(ctx, name, nil)
	return err
}

// existing returns err, unless it means that the table exists.
func existing(err error) error {
	var refused *azcore.ResponseError
	if errors.As(err, &refused) && refused.ErrorCode == "TableAlreadyExists" {
		return nil
	}
	return err
}

func nothing(*testing.T, *storagetest.Account) {}

func TestTheNumberOfCallsMayDifferBetweenRuns(t *testing.T) {
	run, most, checked := 0, 0, 0
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		run++
		for i := range min(run+1, 5) { // two calls in the run without a crash, then more
			if err := create(ctx, acct, fmt.Sprintf("table%d", i)); err != nil {
				return err
			}
			most = max(most, i+1)
		}
		return nil
	}, func(*testing.T, *storagetest.Account) { checked++ })
	if most != 5 || checked != run+5 || run != 1+3*5+1 { // a late crash has two checks
		t.Errorf("%d calls at most, %d runs, %d checks", most, run, checked)
	}
}

func TestAPanicAfterTheCrashIsIgnored(t *testing.T) {
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		if err := create(ctx, acct, "people"); err != nil {
			panic(err)
		}
		return nil
	}, nothing)
}

func TestAnEndlessRetryLoopIsEndedAfterTheCrash(t *testing.T) {
	storagetest.CrashPoints(t, func(_ context.Context, acct *storagetest.Account) error {
		for create(context.Background(), acct, "people") != nil { // ignores its context
			time.Sleep(time.Minute)
		}
		return nil
	}, nothing)
}

func TestADeadProcessCannotWriteWhileTheNextOneRuns(t *testing.T) {
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		late := make(chan error, 1)
		go func() { // a goroutine that outlives the scenario
			time.Sleep(time.Hour)
			late <- create(context.WithoutCancel(ctx), acct, "late")
		}()
		if err := create(ctx, acct, "people"); err != nil {
			return err
		}
		return <-late
	}, func(t *testing.T, acct *storagetest.Account) {
		time.Sleep(2 * time.Hour)
		assert.Equal(t, existing(create(t.Context(), acct, "check")), nil)
	})
}

func TestRulesDoNotApplyToTheNextProcess(t *testing.T) {
	storagetest.CrashPointsWith(t, func(ctx context.Context, acct *storagetest.Account) error {
		assert.Equal(t, acct.Seed(), 7, "seed")
		acct.Fault(storagetest.On("*").Status(500, "InternalError").Times(2))
		return create(ctx, acct, "people")
	}, func(t *testing.T, acct *storagetest.Account) {
		if err := create(t.Context(), acct, "people"); existing(err) != nil || len(acct.Log()) != 1 {
			t.Errorf("%v\n%v", err, acct.Log())
		}
	}, &storagetest.CrashOptions{Account: &storagetest.Options{Seed: 7}})
}

func TestRecoverIsKilledBeforeAndAfterEachCall(t *testing.T) {
	var deaths, recoveries, checks atomic.Int64
	storagetest.CrashPointsWith(t, func(ctx context.Context, acct *storagetest.Account) error {
		return create(ctx, acct, "first")
	}, func(t *testing.T, acct *storagetest.Account) {
		checks.Add(1)
	}, &storagetest.CrashOptions{
		Recover: func(ctx context.Context, acct *storagetest.Account) error {
			recoveries.Add(1)
			err := create(ctx, acct, "first")
			if err == nil {
				err = create(ctx, acct, "second")
			}
			if errors.Is(err, storagetest.ErrKilled) || context.Cause(ctx) != nil {
				deaths.Add(1)
			}
			return nil // the table may exist
		},
	})
	// The scenario has one call and so two crashes. The process after each of them makes
	// one or two calls to recover, each with two crashes.
	if deaths.Load() < 6 || recoveries.Load() <= checks.Load() {
		t.Errorf("%d deaths of %d recoveries, %d checks", deaths.Load(), recoveries.Load(), checks.Load())
	}
}

func TestAScenarioThatFailsWithoutACrashFailsTheTest(t *testing.T) {
	for child, want := range map[string]string{
		"TestChildScenarioFails":  "the scenario, which was not killed: TableAlreadyExists",
		"TestChildScenarioPanics": "the scenario, which was not killed: it panicked: out of order",
		"TestChildScenarioExits":  "the scenario, which was not killed: the goroutine ended early",
		"TestChildScenarioIdle":   "the scenario made no storage call that could be a crash point",
		"TestChildRecoverFails":   "the last process that recovers, which was not killed: not today",
	} {
		assert.Contains(t, inChild(t, child), want, child, "go test does not print")
	}
}

func child(t *testing.T, scenario func(context.Context, *storagetest.Account) error) {
	t.Helper()
	if os.Getenv(mustFail) == "" {
		t.Skip("must fail; TestAScenarioThatFailsWithoutACrashFailsTheTest runs it in a child process")
	}
	storagetest.CrashPoints(t, scenario, nothing)
}

func TestChildScenarioFails(t *testing.T) {
	child(t, func(ctx context.Context, acct *storagetest.Account) error {
		return errors.New("TableAlreadyExists")
	})
}

func TestChildScenarioPanics(t *testing.T) {
	child(t, func(context.Context, *storagetest.Account) error { panic("out of order") })
}

func TestChildScenarioExits(t *testing.T) {
	child(t, func(context.Context, *storagetest.Account) error {
		t.FailNow()
		return nil
	})
}

func TestChildScenarioIdle(t *testing.T) {
	child(t, func(context.Context, *storagetest.Account) error { return nil })
}

func TestChildRecoverFails(t *testing.T) {
	if os.Getenv(mustFail) == "" {
		t.Skip("must fail; TestAScenarioThatFailsWithoutACrashFailsTheTest runs it in a child process")
	}
	storagetest.CrashPointsWith(t, func(ctx context.Context, acct *storagetest.Account) error { return create(ctx, acct, "people") }, nothing, &storagetest.CrashOptions{
		Recover: func(context.Context, *storagetest.Account) error { return errors.New("not today") },
	})
}
