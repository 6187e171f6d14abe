package entitytype_test

import (
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestATransactionChangesAllTypesOrNone(t *testing.T) {
	both(t, func(t *testing.T, b *harness.Backend, opts *entitytype.RegistryOptions) {
		ctx := t.Context()
		_, three := newTables(t, b, opts)
		assert.NoError(t, assert.ErrorOf(three.Insert(ctx, sales("Department_1"), &department{"Sales", 1})))
		d := assert.Must(three.Get(ctx, sales("Department_1")))(t)
		d.Value.(*department).EmployeeCount++
		defer b.ClearFaults()
		b.Fault(storagetest.On("Table.Batch").Nth(1).LoseReply())
		if _, err := three.Transaction().Insert(sales("Employee_1"), &employee3{FirstName: "Ken"}).Replace(d).Commit(ctx); !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Fatalf("a lost response: %v", err)
		}
		assert.NoError(t, assert.ErrorOf(three.Get(ctx, sales("Employee_1"))), "a lost response")
		_, err := three.Transaction().Insert(sales("Employee_2"), &employee3{FirstName: "Ann"}).Replace(d).Commit(ctx)
		assert.WantError(t, err, patterns.ErrConflict, "stale department")
		assert.WantError(t, assert.ErrorOf(three.Get(ctx, sales("Employee_2"))), patterns.ErrNotFound, "a part of the transaction was applied")
		assert.WantError(t, assert.ErrorOf(three.Transaction().Merge(d).Delete(sales("Employee_1"), "").Commit(ctx)), patterns.ErrConflict, "stale merge")
		assert.Equal(t, three.Delete(ctx, sales("Employee_1"), ""), nil)
	})
}
