package storagetest_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// office moves an employee from one table to another. No transaction spans two
// tables.
type office struct{ staff, archive *aztables.Client }

func openOffice(acct *storagetest.Account) office {
	return office{acct.Tables().NewClient("staff"), acct.Tables().NewClient("archive")}
}

// hire creates the tables, with one employee.
func (o office) hire(ctx context.Context) error {
	_, errStaff := o.staff.CreateTable(ctx, nil)
	_, errArchive := o.archive.CreateTable(ctx, nil)
	_, errRow := o.staff.UpsertEntity(ctx, []byte(`{"PartitionKey":"Sales","RowKey":"1"}`), nil)
	return errors.Join(errStaff, errArchive, errRow)
}

func missing(err error) bool {
	var refused *azcore.ResponseError
	return errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound
}

// moveNaively deletes the employee from one table before it inserts it in the other.
func (o office) moveNaively(ctx context.Context) error {
	row, err := o.staff.GetEntity(ctx, "Sales", "1", nil)
	if missing(err) {
		return nil // already moved
	} else if err != nil {
		return err
	}
	if _, err := o.staff.DeleteEntity(ctx, "Sales", "1", nil); err != nil {
		return err
	}
	_, err = o.archive.UpsertEntity(ctx, row.Value, nil)
	return err
}

// move copies before it deletes. It can be repeated at any point.
func (o office) move(ctx context.Context) error {
	row, err := o.staff.GetEntity(ctx, "Sales", "1", nil)
	if missing(err) {
		return nil
	} else if err != nil {
		return err
	}
	if _, err := o.archive.UpsertEntity(ctx, row.Value, nil); err != nil {
		return err
	}
	if _, err := o.staff.DeleteEntity(ctx, "Sales", "1", nil); !missing(err) {
		return err
	}
	return nil
}

// proveMove is the test that a user of the package writes.
func proveMove(t *testing.T, move func(office, context.Context) error) {
	storagetest.CrashPointsWith(t, func(ctx context.Context, acct *storagetest.Account) error {
		o := openOffice(acct)
		if err := o.hire(ctx); err != nil {
			return err
		}
		acct.Arm()
		return move(o, ctx)
	}, func(t *testing.T, acct *storagetest.Account) {
		o := openOffice(acct)
		assert.Equal(t, assert.ErrorOf(o.archive.GetEntity(t.Context(), "Sales", "1", nil)), nil, "the employee is not in the archive")
		if _, err := o.staff.GetEntity(t.Context(), "Sales", "1", nil); !missing(err) {
			t.Errorf("the employee is still on the staff: %v", err)
		}
	}, &storagetest.CrashOptions{
		Recover: func(ctx context.Context, acct *storagetest.Account) error {
			return move(openOffice(acct), ctx)
		},
	})
}

func TestAMoveThatCopiesFirstSurvivesEveryCrash(t *testing.T) { proveMove(t, office.move) }

// Tests that must fail run in a child process, in which this variable is set.
const mustFail = "STORAGETEST_MUST_FAIL"

// inChild runs one of the tests below and returns what go test would print.
func inChild(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+name+"$", "-test.v")
	cmd.Env = append(os.Environ(), mustFail+"=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%s has not failed: %v\n%s", name, err, out)
	}
	return string(out)
}

func TestANaiveMoveFailsAtTheCrashesThatLoseTheRow(t *testing.T) {
	out := inChild(t, "TestChildNaiveMove")
	for _, want := range []string{
		"--- FAIL: TestChildNaiveMove/after_2_Table.Delete ",
		"--- FAIL: TestChildNaiveMove/before_3_Table.UpsertMerge ",
		"--- FAIL: TestChildNaiveMove/before_2_Table.Delete,_then_after_2_Table.Delete ", // Recover dies at the same point
		"--- PASS: TestChildNaiveMove/before_2_Table.Delete ",
		"--- PASS: TestChildNaiveMove/after_3_Table.UpsertMerge ",
		"the employee is not in the archive",
		"storagetest: seed ",
		"the scenario, killed after 2 Table.Delete:",
		`Table.Delete staff ("Sales", "1") -> `,
		"check:\n",
	} {
		assert.Contains(t, out, want, "go test does not print")
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestGoTestCanRunOneCrashPoint(t *testing.T) {
	for run, want := range map[string]string{
		"/^after_2.*": "after_2_Table.Delete",
		"/^before_2_Table.Delete,_then_after_2.*": "before_2_Table.Delete,_then_after_2_Table.Delete",
	} {
		out := inChild(t, "TestChildNaiveMove$"+run)
		if n := strings.Count(out, "--- FAIL: "); n != 2 || !strings.Contains(out, "--- FAIL: TestChildNaiveMove/"+want) || strings.Contains(out, "undisturbed") {
			t.Errorf("-run %s: %d failures, want %s alone\n%s", run, n, want, out)
		}
	}
}

func TestChildNaiveMove(t *testing.T) {
	if os.Getenv(mustFail) == "" {
		t.Skip("must fail; TestANaiveMoveFailsAtTheCrashesThatLoseTheRow runs it in a child process")
	}
	proveMove(t, office.moveNaively)
}
