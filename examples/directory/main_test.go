package main

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/examples/internal/account"
	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// TestMain runs the program instead of the tests in the child processes of crash.
func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheTourPrintsEachStepAndItsRequests(t *testing.T) {
	t.Setenv(account.Connection, "")
	var out bytes.Buffer
	assert.NoError(t, show(t.Context(), &out, account.Flags{}), &out)
	for _, want := range []string{
		"account: in this process",
		"hired 5 employees                                                         33 requests\n",
		"found Mary Jones by id, Ken Kwok by e-mail address                         2 requests\n",
		"found Jim Jones by badge, Mary Jones with a check of the primary: fresh    3 requests\n",
		"found by last name: Jim Jones, Mary Jones                                  3 requests\n",
		"Sales has 3 employees and the manager Ken Kwok                             1 request\n",
		"did not hire Ken Kwan: the email is taken",
		"did not hire Ken Kwan: the badge is taken",
		"put: 14 transactions in 4 round trips, 8 entities written\n",
		"changed name, address and badge of Mary Smith                             11 requests\n",
		"finished 6 operations so far, those of a department together              10 requests\n",
		"Jun Cao, with the same badge, is in Marketing; Sales has 2, Marketing 3    3 requests\n",
		"computed every view from the employees: no row differs",
	} {
		assert.Contains(t, out.String(), want, "output lacks", &out)
	}
}

func TestAWorkerRepairsACrashAtAnyRequest(t *testing.T) {
	storagetest.CrashPointsWith(t,
		func(ctx context.Context, acct *storagetest.Account) error {
			_, d, err := newWithStaff(ctx, acct)
			if err != nil {
				return err
			}
			acct.Arm()
			return d.day(ctx, &bytes.Buffer{})
		},
		func(t *testing.T, acct *storagetest.Account) {
			a := account.Local(acct)
			d := assert.Must(NewDirectory(a.Tables, a.Queue, "", shortTimeouts(), nil))(t)
			assert.NoError(t, d.Recover(t.Context()))
			// A reservation may have been faster than the message of its operation, but no transaction.
			time.Sleep(3 * shortTimeouts().grace)
			if report, err := d.staff.Sweep(t.Context(), nil); err != nil || len(report.Failures) > 0 || report.Drained > 0 {
				t.Fatalf("%v, %+v", err, report)
			}
			assert.NoError(t, d.Recover(t.Context()))
			assert.Equal(t, d.checkAll(t.Context()), nil)
		}, &storagetest.CrashOptions{InFlight: shortTimeouts().expiry / 2})
}

// Request 48 is in the middle of a transfer: the old row is leaving, the new one is already
// active, and its badge and its last name are not written yet.
func TestAWorkerRepairsWhatAKilledProcessLeft(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGKILL")
	}
	t.Setenv(account.Connection, "")
	var out bytes.Buffer
	assert.NoError(t, crash(t.Context(), &out, 48), &out)
	for _, want := range []string{
		"\n  moving Jun Cao from Sales to Marketing\nkilled at request 48, ",
		"\n  employee Sales/000223 is leaving\n",
		": all views agree with the employees, and no employee is missing\n",
	} {
		assert.Contains(t, out.String(), want, "output lacks", &out)
	}
}

// Each case deletes a row without the Store.
func TestCheckReportsEachMissingRow(t *testing.T) {
	acct := storagetest.New(t)
	_, d, err := newWithStaff(t.Context(), acct)
	assert.NoError(t, err)
	assert.NoError(t, d.checkAll(t.Context()))
	for _, at := range []struct{ table, pk, rk, part string }{
		{"Employees", "Sales", "000152", "e-mail Sales/maryj@contoso.com"},
		{"Employees", "Sales", "email_kenk@contoso.com", "e-mail Sales/kenk@contoso.com"},
		{"Employees", "lastname_", "Beebe", "last name Beebe"},
		{"Employees", "Marketing", "Department", "count Marketing"},
		{"Badges", "badge_", "B-02", "badge B-02"},
	} {
		table := acct.Tables().NewClient(at.table)
		row := assert.Must(table.GetEntity(t.Context(), at.pk, at.rk, nil))(t)
		assert.NoError(t, assert.ErrorOf(table.DeleteEntity(t.Context(), at.pk, at.rk, nil)))
		differences, err := d.Check(t.Context())
		assert.NoError(t, err)
		assert.Contains(t, strings.Join(differences, "\n"), at.part)
		assert.NoError(t, assert.ErrorOf(table.AddEntity(t.Context(), row.Value, nil)))
	}
	assert.Equal(t, d.checkAll(t.Context()), nil)
}
