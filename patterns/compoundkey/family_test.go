package compoundkey_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type employee struct {
	Department string
	ID         string
	FirstName  string
	Reviews    int64
}

type review struct {
	Department    string
	EmployeeID    string
	Year          string
	ManagerRating int32
	Comments      string
}

func employeeID(e *employee) compoundkey.ID {
	return compoundkey.ID{Partition: e.Department, Parent: e.ID}
}

func reviewID(r *review) (compoundkey.ID, string) {
	return compoundkey.ID{Partition: r.Department, Parent: r.EmployeeID}, r.Year
}

type family = compoundkey.Family[employee, review]

func newFamily(t testing.TB, b *testbed.Backend, opts *compoundkey.Options) *family {
	t.Helper()
	f, err := compoundkey.New(b.Table(t), employeeID, reviewID, opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func sales(id string) compoundkey.ID { return compoundkey.ID{Partition: "Sales", Parent: id} }

func hire(t testing.TB, f *family, id string, years ...string) {
	t.Helper()
	var reviews []*review
	for _, y := range years {
		reviews = append(reviews, &review{Department: "Sales", EmployeeID: id, Year: y, ManagerRating: 3})
	}
	if err := f.Insert(t.Context(), &employee{Department: "Sales", ID: id, FirstName: "E" + id}, reviews...); err != nil {
		t.Fatal(err)
	}
}

func yearsOf(t testing.TB, f *family, id compoundkey.ID, span compoundkey.Span) []string {
	t.Helper()
	var years []string
	for item, err := range f.Children(t.Context(), id, span, nil) {
		if err != nil {
			t.Fatal(err)
		}
		years = append(years, item.Value.Year)
	}
	return years
}

func modes(t *testing.T, body func(t *testing.T, b *testbed.Backend, opts *compoundkey.Options, bare int)) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		t.Run("separated parent", func(t *testing.T) { body(t, b, nil, 0) })
		t.Run("bare parent", func(t *testing.T) { body(t, b, &compoundkey.Options{BareParent: true}, 1) })
	})
}

func TestAFamilyIsReadWholeAndInOrder(t *testing.T) {
	modes(t, func(t *testing.T, b *testbed.Backend, opts *compoundkey.Options, bare int) {
		f := newFamily(t, b, opts)
		b.ResetRequests()
		hire(t, f, "000123", "2012", "2011", "2013")
		wantRequests(t, b, "insert of parent and children", 1)

		m, err := f.Read(t.Context(), sales("000123"))
		if err != nil {
			t.Fatal(err)
		}
		wantRequests(t, b, "read of parent and children", 1+bare)
		if m.Parent == nil || m.Parent.Value.FirstName != "E000123" || m.Parent.ETag == "" {
			t.Errorf("parent %+v", m.Parent)
		}
		var years []string
		for _, c := range m.Children {
			years = append(years, c.Value.Year)
		}
		if !slices.Equal(years, []string{"2011", "2012", "2013"}) {
			t.Errorf("children %v", years)
		}
		if got := yearsOf(t, f, sales("000123"), compoundkey.Span{From: "2012"}); !slices.Equal(got, []string{"2012", "2013"}) {
			t.Errorf("children from 2012: %v", got)
		}
		wantRequests(t, b, "children", 1)
		if got := yearsOf(t, f, sales("000123"), compoundkey.Span{From: "2011", To: "2013"}); !slices.Equal(got, []string{"2011", "2012"}) {
			t.Errorf("children from 2011 to 2013: %v", got)
		}
		if got := yearsOf(t, f, sales("000123"), compoundkey.Span{Prefix: "201"}); len(got) != 3 {
			t.Errorf("children that begin with 201: %v", got)
		}
		b.ResetRequests()
		if c, err := f.Child(t.Context(), sales("000123"), "2012"); err != nil || c.Value.ManagerRating != 3 {
			t.Errorf("child: %+v, %v", c, err)
		}
		wantRequests(t, b, "child", 1)
		if p, err := f.Parent(t.Context(), sales("000123")); err != nil || p.Value.ID != "000123" {
			t.Errorf("parent: %+v, %v", p, err)
		}
		wantRequests(t, b, "parent", 1)
		if _, err := f.Read(t.Context(), sales("000999")); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("read of nobody: %v", err)
		}
	})
}

func wantRequests(t *testing.T, b *testbed.Backend, what string, want int) {
	t.Helper()
	if got := len(b.Requests()); got != want {
		t.Errorf("%s: %d requests, want %d", what, got, want)
	}
	b.ResetRequests()
}

// The design guide's own ranges let 0001230 slip in, or nothing at all.
func TestNeighboursNeverMix(t *testing.T) {
	modes(t, func(t *testing.T, b *testbed.Backend, opts *compoundkey.Options, _ int) {
		f := newFamily(t, b, opts)
		ids := []string{"000123", "0001230", "000124", "00012", "000123_", "000123_2012", "000123`", "000123'", "000123/x", "000123 ", "000123😀"}
		for _, id := range ids {
			hire(t, f, id, "2012", "a_b", "c/d")
		}
		for _, id := range ids {
			m, err := f.Read(t.Context(), sales(id))
			if err != nil || m.Parent == nil || m.Parent.Value.ID != id || len(m.Children) != 3 {
				t.Fatalf("%q: %d children, %v", id, len(m.Children), err)
			}
			for _, c := range m.Children {
				if c.Value.EmployeeID != id {
					t.Errorf("%q: a child of %q", id, c.Value.EmployeeID)
				}
			}
		}
		if err := f.Delete(t.Context(), sales("000123")); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids[1:] {
			if m, err := f.Read(t.Context(), sales(id)); err != nil || len(m.Children) != 3 {
				t.Errorf("%q lost rows to the deletion of its neighbour: %v", id, err)
			}
		}
	})
}

func TestDeleteAsksForNoMoreThanItSays(t *testing.T) {
	modes(t, func(t *testing.T, b *testbed.Backend, opts *compoundkey.Options, bare int) {
		f := newFamily(t, b, opts)
		deleted := func(what string, requests int) {
			t.Helper()
			b.ResetRequests()
			if err := f.Delete(t.Context(), sales("1")); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			wantRequests(t, b, what, requests)
			if _, err := f.Read(t.Context(), sales("1")); !errors.Is(err, patterns.ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
		hire(t, f, "1", "2011", "2012")
		deleted("a family", 2)
		deleted("none", 1+bare)
		hire(t, f, "1")
		deleted("a parent alone", 2)
		if _, err := f.AddChild(t.Context(), &review{Department: "Sales", EmployeeID: "1", Year: "2012"}); err != nil {
			t.Fatal(err)
		}
		deleted("a child alone", 2+bare)
	})
}

func TestABareParentIsReadBesideItsChildren(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		f := newFamily(t, b, &compoundkey.Options{BareParent: true})
		hire(t, f, "1", "2012")
		b.Fault(fault.On("Table.*").Delay(time.Second))
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if m, err := f.Read(t.Context(), sales("1")); err != nil || m.Parent == nil || len(m.Children) != 1 {
				t.Errorf("got %+v, %v", m, err)
			}
			if took := time.Since(began); took != time.Second {
				t.Errorf("two requests of a second took %v", took)
			}
		})
		b.ClearFaults()
		for _, op := range []string{"Table.Get", "Table.Query"} {
			b.Fault(fault.On(op).Status(403, "AuthorizationFailure"))
			var refused *patterns.Error
			if m, err := f.Read(t.Context(), sales("1")); !errors.As(err, &refused) || refused.Status != 403 || m.Parent != nil || m.Children != nil {
				t.Errorf("%s refused: %+v, %v", op, m, err)
			}
			b.ClearFaults()
		}
	})
}

func TestFamiliesAgreeWithAModel(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		text := rapid.StringMatching(`[0-9a-b_/' ]{1,4}`)
		for _, opts := range []*compoundkey.Options{nil, {BareParent: true}} {
			f := newFamily(t, b, opts)
			run := 0
			rapid.Check(t, func(rt *rapid.T) {
				run++
				partition := fmt.Sprint("p", run)
				model := map[string]map[string]bool{}
				for range rapid.IntRange(1, 6).Draw(rt, "families") {
					id := text.Draw(rt, "id")
					if model[id] != nil {
						continue
					}
					model[id] = map[string]bool{}
					if err := f.Insert(t.Context(), &employee{Department: partition, ID: id}); err != nil {
						rt.Fatal(err)
					}
					for range rapid.IntRange(0, 4).Draw(rt, "children") {
						year := text.Draw(rt, "year")
						_, err := f.AddChild(t.Context(), &review{Department: partition, EmployeeID: id, Year: year})
						if model[id][year] != errors.Is(err, patterns.ErrExists) || err != nil && !errors.Is(err, patterns.ErrExists) {
							rt.Fatalf("child again %v: %v", model[id][year], err)
						}
						model[id][year] = true
					}
				}
				for id, years := range model {
					m, err := f.Read(t.Context(), compoundkey.ID{Partition: partition, Parent: id})
					if err != nil || m.Parent == nil || len(m.Children) != len(years) {
						rt.Fatalf("%q: %d children, want %d, %v", id, len(m.Children), len(years), err)
					}
					if !slices.IsSortedFunc(m.Children, func(a, b patterns.Item[review]) int {
						return keys.Compare(a.Value.Year, b.Value.Year)
					}) {
						rt.Fatalf("%q: children out of order", id)
					}
				}
			})
		}
	})
}

func TestChildAndParentChangeTogether(t *testing.T) {
	modes(t, func(t *testing.T, b *testbed.Backend, opts *compoundkey.Options, _ int) {
		f := newFamily(t, b, opts)
		hire(t, f, "000123", "2012")
		b.ResetRequests()
		err := f.Update(t.Context(), sales("000123"), "2012", func(e *employee, r *review) error {
			e.Reviews++
			r.Comments = "good"
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		wantRequests(t, b, "update", 3)
		m, _ := f.Read(t.Context(), sales("000123"))
		if m.Parent.Value.Reviews != 1 || m.Children[0].Value.Comments != "good" {
			t.Errorf("got %+v, %+v", m.Parent.Value, m.Children[0].Value)
		}
		// One of the two is stale: neither changes.
		stale := *m.Parent
		if _, err := f.Transaction().Parent(patterns.MergeOp(*m.Parent)).Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.Children[0].Value.Comments = "bad"
		_, err = f.Transaction().Child(patterns.ReplaceOp(m.Children[0])).Parent(patterns.ReplaceOp(stale)).Commit(t.Context())
		var failed *patterns.BatchError
		if !errors.Is(err, patterns.ErrConflict) || !errors.As(err, &failed) || failed.Index != 1 {
			t.Errorf("stale parent: %v", err)
		}
		if c, _ := f.Child(t.Context(), sales("000123"), "2012"); c.Value.Comments != "good" {
			t.Errorf("the child changed without its parent: %q", c.Value.Comments)
		}
		if err := f.Update(t.Context(), sales("000123"), "1999", func(*employee, *review) error { return nil }); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("update of a missing child: %v", err)
		}
	})
}

func TestInsertIsAllOrNone(t *testing.T) {
	modes(t, func(t *testing.T, b *testbed.Backend, opts *compoundkey.Options, _ int) {
		f := newFamily(t, b, opts)
		if _, err := f.AddChild(t.Context(), &review{Department: "Sales", EmployeeID: "1", Year: "2012"}); err != nil {
			t.Fatal(err)
		}
		err := f.Insert(t.Context(), &employee{Department: "Sales", ID: "1"},
			&review{Department: "Sales", EmployeeID: "1", Year: "2011"}, &review{Department: "Sales", EmployeeID: "1", Year: "2012"})
		var failed *patterns.BatchError
		if !errors.Is(err, patterns.ErrExists) || !errors.As(err, &failed) || failed.Index != 2 {
			t.Errorf("got %v, want ErrExists at index 2", err)
		}
		if m, err := f.Read(t.Context(), sales("1")); err != nil || m.Parent != nil || len(m.Children) != 1 {
			t.Errorf("after a failed insert: %+v, %v", m, err)
		}
	})
}

func TestALostReplyToAnInsertIsFoundOut(t *testing.T) {
	modes(t, func(t *testing.T, b *testbed.Backend, opts *compoundkey.Options, _ int) {
		f := newFamily(t, b, opts)
		defer b.ClearFaults()
		b.Fault(fault.On("Table.Batch").Nth(1).LoseReply())
		hire(t, f, "1", "2011", "2012") // fails the test on error
		if m, err := f.Read(t.Context(), sales("1")); err != nil || m.Parent == nil || len(m.Children) != 2 {
			t.Errorf("got %+v, %v", m, err)
		}
	})
}

func TestShortAndEmptyPagesChangeNothing(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		f := newFamily(t, b, nil)
		hire(t, f, "1", "a", "b", "c", "d", "e")
		for _, rule := range []fault.Rule{
			fault.On("Table.Query").ShortPage(1), fault.On("Table.Query").Nth(1).EmptyPage(), fault.On("Table.Query").CutPage(2),
		} {
			b.Fault(rule)
			if m, err := f.Read(t.Context(), sales("1")); err != nil || m.Parent == nil || len(m.Children) != 5 {
				t.Errorf("read: %d children, %v", len(m.Children), err)
			}
			if got := yearsOf(t, f, sales("1"), compoundkey.Span{}); len(got) != 5 {
				t.Errorf("children: %v", got)
			}
			b.ClearFaults()
		}
	})
}

func TestDeleteOfALargeFamilyCanBeRepeatedAfterACrash(t *testing.T) {
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		f, err := compoundkey.New(acct.Tables().NewClient("Staff"), employeeID, reviewID, nil)
		if err != nil {
			return err
		}
		if _, err := f.Client().CreateTable(ctx, nil); err != nil {
			return err
		}
		if err := f.Insert(ctx, &employee{Department: "Sales", ID: "1"}); err != nil {
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
			t.Errorf("delete again: %v", err)
		}
		if _, err := f.Read(t.Context(), sales("1")); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("something is left: %v", err)
		}
	})
}

func TestWhatCannotBeStoredIsRefusedBeforeARequest(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		f, ctx := newFamily(t, b, nil), t.Context()
		b.ResetRequests()
		long := strings.Repeat("x", 512)
		many := make([]*review, 100)
		for i := range many {
			many[i] = &review{Department: "Sales", EmployeeID: "1", Year: fmt.Sprint(i)}
		}
		for _, c := range []struct {
			what string
			err  error
			want error
		}{
			{"empty parent id", f.Insert(ctx, &employee{Department: "Sales"}), compoundkey.ErrNoID},
			{"empty child id", f.Insert(ctx, &employee{Department: "Sales", ID: "1"}, &review{Department: "Sales", EmployeeID: "1"}), compoundkey.ErrNoID},
			{"child of another", f.Insert(ctx, &employee{Department: "Sales", ID: "1"}, &review{Department: "Sales", EmployeeID: "2", Year: "1"}), compoundkey.ErrStranger},
			{"nil parent", f.Insert(ctx, nil), patterns.ErrNil},
			{"nil child", f.Insert(ctx, &employee{Department: "Sales", ID: "1"}, nil), patterns.ErrNil},
			{"101 rows", f.Insert(ctx, &employee{Department: "Sales", ID: "1"}, many...), patterns.ErrTooLarge},
			{"long id", f.Insert(ctx, &employee{Department: "Sales", ID: long}), patterns.ErrBadKey},
			{"slash in the partition", f.Insert(ctx, &employee{Department: "a/b", ID: "1"}), patterns.ErrBadKey},
			{"nil function", f.Update(ctx, sales("1"), "2", nil), patterns.ErrNil},
			{"delete of no id", f.Delete(ctx, sales("")), compoundkey.ErrNoID},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: got %v, want %v", c.what, c.err, c.want)
			}
		}
		wantRequests(t, b, "refusals", 0)
		if _, err := compoundkey.New[employee, review](b.Table(t), nil, reviewID, nil); !errors.Is(err, patterns.ErrNil) {
			t.Errorf("nil id function: %v", err)
		}
	})
}
