package compoundkey_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

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
			if err := f.Delete(t.Context(), sales("1")); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			b.WantRequestCount(t, requests)
			if _, err := f.Read(t.Context(), sales("1")); !errors.Is(err, patterns.ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
		hire(t, f, "1", "2011", "2012")
		deleted("a family", 2)
		deleted("a family that does not exist", 1)
		hire(t, f, "1")
		deleted("a parent alone", 2)
		if _, err := f.AddChild(t.Context(), &review{Department: "Sales", EmployeeID: "1", Year: "2012"}); err != nil {
			t.Fatal(err)
		}
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
		f, err := compoundkey.New(acct.Tables().NewClient("Staff"), employeeID, reviewID, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Read(t.Context(), sales("1"))
		if err == nil && m.Parent == nil {
			t.Errorf("%d children without their parent", len(m.Children))
		}
		if err := f.Delete(t.Context(), sales("1")); err != nil {
			t.Errorf("second delete: %v", err)
		}
		if _, err := f.Read(t.Context(), sales("1")); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("rows remain: %v", err)
		}
	})
}
