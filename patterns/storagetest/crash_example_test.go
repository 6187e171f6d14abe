package storagetest_test

import (
	"context"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The test of a move between two tables. A move that deletes before it copies fails the
// subtests "after 2 Table.Delete" and "before 3 Table.UpsertMerge": the process dies between
// the two calls, and the row is in neither table. A move that copies first passes, if the
// next process repeats it.
func ExampleCrashPoints() {
	var t *testing.T // the parameter of the test
	storagetest.CrashPoints(t,
		func(ctx context.Context, acct *storagetest.Account) error {
			o := openOffice(acct)
			if err := o.hire(ctx); err != nil {
				return err
			}
			acct.Arm() // creating the tables is not part of the move
			return o.move(ctx)
		},
		func(t *testing.T, acct *storagetest.Account) {
			o := openOffice(acct)
			if err := o.move(t.Context()); err != nil { // what the program does when it starts
				t.Fatal(err)
			}
			if _, err := o.archive.GetEntity(t.Context(), "Sales", "1", nil); err != nil {
				t.Errorf("the employee is not in the archive: %v", err)
			}
			if _, err := o.staff.GetEntity(t.Context(), "Sales", "1", nil); !missing(err) {
				t.Errorf("the employee is still on the staff: %v", err)
			}
		})
}
