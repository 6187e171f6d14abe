package storagetest_test

import (
	"context"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The test of a move between two tables. A move that deletes before it copies
// fails it at "after 2 Table.Delete" and at "before 3 Table.UpsertMerge": the
// process dies between the two, and the row is in neither table. One that
// copies first passes, if the code that starts next moves again.
func ExampleCrashPoints() {
	var t *testing.T // of the test around it
	storagetest.CrashPoints(t,
		func(ctx context.Context, acct *storagetest.Account) error {
			o := openOffice(acct)
			if err := o.hire(ctx); err != nil {
				return err
			}
			acct.Arm() // making the tables is no part of the move
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
