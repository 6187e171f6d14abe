package entitytype_test

import (
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestATransactionChangesAllTypesOrNone(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		ctx := t.Context()
		_, three := newTables(t, b, opts)
		if _, err := three.Insert(ctx, sales("Department_1"), &department{"Sales", 1}); err != nil {
			t.Fatal(err)
		}
		d, err := three.Get(ctx, sales("Department_1"))
		if err != nil {
			t.Fatal(err)
		}
		d.Value.(*department).EmployeeCount++
		defer b.ClearFaults()
		b.Fault(storagetest.On("Table.Batch").Nth(1).LoseReply())
		if _, err := three.Transaction().Insert(sales("Employee_1"), &employee3{FirstName: "Ken"}).Replace(d).Commit(ctx); !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Fatalf("a lost response: %v", err)
		}
		if _, err := three.Get(ctx, sales("Employee_1")); err != nil {
			t.Fatalf("a lost response: %v", err)
		}
		_, err = three.Transaction().Insert(sales("Employee_2"), &employee3{FirstName: "Ann"}).Replace(d).Commit(ctx)
		if !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("stale department: %v", err)
		}
		if _, err := three.Get(ctx, sales("Employee_2")); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("a part of the transaction was applied: %v", err)
		}
		if _, err := three.Transaction().Merge(d).Delete(sales("Employee_1"), "").Commit(ctx); !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("stale merge: %v", err)
		}
		if err := three.Delete(ctx, sales("Employee_1"), ""); err != nil {
			t.Error(err)
		}
	})
}
