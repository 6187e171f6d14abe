package main

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The test binary stands in for the program that starts itself again.
func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTourTellsEachStepAndItsRequests(t *testing.T) {
	t.Setenv(account.Connection, "")
	var out bytes.Buffer
	if err := show(t.Context(), &out, account.Flags{}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"account: in this process",
		"found Mary Jones by id, Ken Kwok by e-mail address                         2 requests\n",
		"and Mary Jones with a look at the primary: fresh   3 requests\n",
		"found by last name: Jim Jones, Mary Jones                                  3 requests\n",
		"Sales has 3 employees and the manager Ken Kwok                             1 request\n",
		"did not hire Ken Kwan: the email is taken",
		"did not hire Ken Kwan: the badge is taken",
		"put: 15 transactions, 8 entities written\n",
		"changed name, address and badge of Mary Smith                             15 requests\n",
		"Jun Cao, with the same badge, is in Marketing; Sales has 2, Marketing 3    3 requests\n",
		"worked out from all rows what every view must say: it does",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, &out)
		}
	}
}

func TestKilledAtAnyRequestAWorkerPutsAllRight(t *testing.T) {
	storagetest.CrashPoints(t,
		func(ctx context.Context, acct *storagetest.Account) error {
			_, d, err := opened(ctx, acct)
			if err != nil {
				return err
			}
			acct.Arm()
			return d.day(ctx, &bytes.Buffer{})
		},
		func(t *testing.T, acct *storagetest.Account) {
			d, err := NewDirectory(account.Local(acct), "", hasty())
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := d.sound(t.Context()); err != nil {
				t.Error(err)
			}
		})
}

// Request 48 is in the middle of a transfer: the old row is leaving, the new one has
// just come into force, and its badge and its last name are not written yet.
func TestKilledByTheSystemItHeals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGKILL")
	}
	t.Setenv(account.Connection, "")
	var out bytes.Buffer
	if err := crash(t.Context(), &out, 48); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"\n  moving Jun Cao from Sales to Marketing\nkilled at its request 48, ",
		"\n  employee Sales/000223 is leaving\n",
		": all views agree with the employees, and nobody is missing\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, &out)
		}
	}
}

// What Check is worth: each row that it looks at, changed behind the Store's back, is
// a difference.
func TestCheckSeesEveryDifference(t *testing.T) {
	acct := storagetest.New(t)
	_, d, err := opened(t.Context(), acct)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.sound(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct{ table, pk, rk, part string }{
		{"Employees", "Sales", "000152", "e-mail Sales/maryj@contoso.com"},
		{"Employees", "Sales", "email_kenk@contoso.com", "e-mail Sales/kenk@contoso.com"},
		{"Employees", "lastname_", "Beebe", "last name Beebe"},
		{"Employees", "Marketing", "Department", "count Marketing"},
		{"Badges", "badge_", "B-02", "badge B-02"},
	} {
		table := acct.Tables().NewClient(at.table)
		row, err := table.GetEntity(t.Context(), at.pk, at.rk, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.DeleteEntity(t.Context(), at.pk, at.rk, nil); err != nil {
			t.Fatal(err)
		}
		differences, err := d.Check(t.Context())
		if err != nil || !strings.Contains(strings.Join(differences, "\n"), at.part) {
			t.Errorf("without %s/%s: %q, %v", at.pk, at.rk, differences, err)
		}
		if _, err := table.AddEntity(t.Context(), row.Value, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.sound(t.Context()); err != nil {
		t.Error(err)
	}
}
