package compoundkey_test

import (
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestInsertStoresAllRowsOrNone(t *testing.T) {
	modes(t, func(t *testing.T, b *harness.Backend, opts *compoundkey.Options) {
		f := newFamily(t, b, opts)
		assert.NoError(t, assert.ErrorOf(f.AddChild(t.Context(), &review{Department: "Sales", EmployeeID: "1", Year: "2012"})))
		_, err := f.Insert(t.Context(), &employee{Department: "Sales", ID: "1"},
			&review{Department: "Sales", EmployeeID: "1", Year: "2011"}, &review{Department: "Sales", EmployeeID: "1", Year: "2012"})
		var failed *patterns.BatchError
		if !errors.Is(err, patterns.ErrExists) || !errors.As(err, &failed) || failed.Index != 2 {
			t.Errorf("got %v, want ErrExists at index 2", err)
		}
		if m, err := f.Get(t.Context(), sales("1")); err != nil || m.Parent != nil || len(m.Children) != 1 {
			t.Errorf("after a failed insert: %+v, %v", m, err)
		}
	})
}

func TestInsertReturnsTheStoredItems(t *testing.T) {
	modes(t, func(t *testing.T, b *harness.Backend, opts *compoundkey.Options) {
		f := newFamily(t, b, opts)
		inserted, err := f.Insert(t.Context(), &employee{Department: "Sales", ID: "1", FirstName: "Ken"},
			&review{Department: "Sales", EmployeeID: "1", Year: "2011"}, &review{Department: "Sales", EmployeeID: "1", Year: "2012"})
		assert.NoError(t, err)
		m, err := f.Get(t.Context(), sales("1"))
		if err != nil || len(inserted.Children) != 2 {
			t.Fatalf("inserted %+v, %v", inserted, err)
		}
		if got, want := *inserted.Parent, *m.Parent; got.Value != want.Value || got.Key != want.Key || got.ETag != want.ETag {
			t.Errorf("parent %+v, want %+v", got, want)
		}
		for i, want := range m.Children {
			if got := inserted.Children[i]; got.Value != want.Value || got.Key != want.Key || got.ETag != want.ETag {
				t.Errorf("child %d: %+v, want %+v", i, got, want)
			}
		}
		inserted.Parent.Value.FirstName = "Ann"
		if _, err := f.Transaction().Parent(patterns.ReplaceOp(*inserted.Parent)).Child(patterns.DeleteOp[review](inserted.Children[0].Key, inserted.Children[0].ETag)).Commit(t.Context()); err != nil {
			t.Errorf("write of what was inserted: %v", err)
		}
	})
}

func TestAStampedInsertSucceedsIfItsResponseIsLost(t *testing.T) {
	modes(t, func(t *testing.T, b *harness.Backend, opts *compoundkey.Options) {
		stamped := compoundkey.Options{StampWrites: true}
		if opts != nil {
			stamped = *opts
			stamped.StampWrites = true
		}
		f := newFamily(t, b, &stamped)
		defer b.ClearFaults()
		b.Fault(storagetest.On("Table.Batch").Nth(1).LoseReply())
		hire(t, f, "1", "2011", "2012") // fails the test on error
		if m, err := f.Get(t.Context(), sales("1")); err != nil || m.Parent == nil || len(m.Children) != 2 {
			t.Errorf("got %+v, %v", m, err)
		}
	})
}

func TestUpdateChangesParentAndChildTogether(t *testing.T) {
	modes(t, func(t *testing.T, b *harness.Backend, opts *compoundkey.Options) {
		f := newFamily(t, b, opts)
		hire(t, f, "000123", "2012")
		b.ResetRequests()
		parent, child, err := f.Update(t.Context(), sales("000123"), "2012", func(e *employee, r *review) error {
			e.Reviews++
			r.Comments = "good"
			return nil
		})
		assert.NoError(t, err)
		b.WantRequestCount(t, 3)
		m, _ := f.Get(t.Context(), sales("000123"))
		if parent.Value != m.Parent.Value || parent.ETag != m.Parent.ETag || child.Value != m.Children[0].Value || child.ETag != m.Children[0].ETag {
			t.Errorf("update returned %+v, %+v, want %+v, %+v", parent, child, m.Parent, m.Children[0])
		}
		if m.Parent.Value.Reviews != 1 || m.Children[0].Value.Comments != "good" {
			t.Errorf("got %+v, %+v", m.Parent.Value, m.Children[0].Value)
		}
		// If one of the two has changed, neither is replaced.
		stale := *m.Parent
		assert.NoError(t, assert.ErrorOf(f.Transaction().Parent(patterns.MergeOp(*m.Parent)).Commit(t.Context())))
		m.Children[0].Value.Comments = "bad"
		_, err = f.Transaction().Child(patterns.ReplaceOp(m.Children[0])).Parent(patterns.ReplaceOp(stale)).Commit(t.Context())
		var failed *patterns.BatchError
		if !errors.Is(err, patterns.ErrConflict) || !errors.As(err, &failed) || failed.Index != 1 {
			t.Errorf("stale parent: %v", err)
		}
		if c, _ := f.Child(t.Context(), sales("000123"), "2012"); c.Value.Comments != "good" {
			t.Errorf("the child changed without its parent: %q", c.Value.Comments)
		}
		if _, _, err := f.Update(t.Context(), sales("000123"), "1999", func(*employee, *review) error { return nil }); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("update of a missing child: %v", err)
		}
	})
}

func TestUpdateStartsOverAfterAConflict(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for _, opts := range []*compoundkey.Options{nil, {StampWrites: true}} {
			f := newFamily(t, b, opts)
			hire(t, f, "1", "2012")
			calls := 0
			parent, child, err := f.Update(t.Context(), sales("1"), "2012", func(e *employee, r *review) error {
				if calls++; calls < 3 {
					other, err := f.Child(t.Context(), sales("1"), "2012")
					if err != nil {
						return err
					}
					other.Value.ManagerRating++
					if _, err := f.Transaction().Child(patterns.MergeOp(other)).Commit(t.Context()); err != nil {
						return err
					}
				}
				e.Reviews++
				r.ManagerRating += 10
				return nil
			})
			if err != nil || calls != 3 || parent.Value.Reviews != 1 || child.Value.ManagerRating != 15 {
				t.Fatalf("%d calls, %+v, %+v, %v", calls, parent, child, err)
			}
			if _, err := f.Transaction().Parent(patterns.ReplaceOp(parent)).Child(patterns.ReplaceOp(child)).Commit(t.Context()); err != nil {
				t.Errorf("write of what was updated: %v", err)
			}
		}
	})
}
