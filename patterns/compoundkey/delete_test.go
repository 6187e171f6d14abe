package compoundkey_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestDeleteMakesTheDocumentedRequests(t *testing.T) {
	modes(t, func(t *testing.T, b *harness.Backend, opts *compoundkey.Options) {
		f := newFamily(t, b, opts)
		deleted := func(what string, requests int) {
			t.Helper()
			b.ResetRequests()
			assert.Equal(t, f.Delete(t.Context(), sales("1")), nil, what)
			b.WantRequestCount(t, requests)
			assert.WantError(t, assert.ErrorOf(f.Get(t.Context(), sales("1"))), patterns.ErrNotFound, what)
		}
		hire(t, f, "1", "2011", "2012")
		deleted("a family", 2)
		deleted("a family that does not exist", 1)
		hire(t, f, "1")
		deleted("a parent alone", 2)
		assert.NoError(t, assert.ErrorOf(f.AddChild(t.Context(), &review{Department: "Sales", EmployeeID: "1", Year: "2012"})))
		deleted("a child alone", 2)
	})
}

func TestAnInterruptedDeleteCanBeRepeated(t *testing.T) {
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		f, err := compoundkey.New(acct.Tables().NewClient("Staff"), employeeID, reviewID, nil)
		if err != nil {
			return err
		}
		if err := f.Create(ctx); err != nil {
			return err
		}
		if _, err := f.Insert(ctx, &employee{Department: "Sales", ID: "1"}); err != nil {
			return err
		}
		for i := range 3 {
			tx := f.Transaction()
			for j := range 100 {
				tx.Child(patterns.InsertOp(&review{Department: "Sales", EmployeeID: "1", Year: fmt.Sprintf("%d-%02d", i, j)}))
			}
			if _, err := tx.Commit(ctx); err != nil {
				return err
			}
		}
		acct.Arm()
		return f.Delete(ctx, sales("1"))
	}, func(t *testing.T, acct *storagetest.Account) {
		f := assert.Must(compoundkey.New(acct.Tables().NewClient("Staff"), employeeID, reviewID, nil))(t)
		m, err := f.Get(t.Context(), sales("1"))
		if err == nil && m.Parent == nil {
			t.Errorf("%d children without their parent", len(m.Children))
		}
		assert.Equal(t, f.Delete(t.Context(), sales("1")), nil, "second delete")
		assert.WantError(t, assert.ErrorOf(f.Get(t.Context(), sales("1"))), patterns.ErrNotFound, "rows remain")
	})
}
