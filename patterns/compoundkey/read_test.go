package compoundkey_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestReadReturnsTheParentAndItsChildrenInOrder(t *testing.T) {
	modes(t, func(t *testing.T, b *harness.Backend, opts *compoundkey.Options) {
		f := newFamily(t, b, opts)
		b.ResetRequests()
		hire(t, f, "000123", "2012", "2011", "2013")
		b.WantRequestCount(t, 1)

		m := assert.Must(f.Get(t.Context(), sales("000123")))(t)
		b.WantRequestCount(t, 1)
		if m.Parent == nil || m.Parent.Value.FirstName != "E000123" || m.Parent.ETag == "" {
			t.Errorf("parent %+v", m.Parent)
		}
		var years []string
		for _, c := range m.Children {
			years = append(years, c.Value.Year)
		}
		assert.EqualSlices(t, years, []string{"2011", "2012", "2013"}, "children")
		assert.EqualSlices(t, yearsOf(t, f, sales("000123"), compoundkey.Span{From: "2012"}), []string{"2012", "2013"}, "children from 2012")
		b.WantRequestCount(t, 1)
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
		b.WantRequestCount(t, 1)
		if p, err := f.Parent(t.Context(), sales("000123")); err != nil || p.Value.ID != "000123" {
			t.Errorf("parent: %+v, %v", p, err)
		}
		b.WantRequestCount(t, 1)
		assert.WantError(t, assert.ErrorOf(f.Get(t.Context(), sales("000999"))), patterns.ErrNotFound, "read of a family that does not exist")
	})
}

// The ranges of the design guide contain 0001230 too, or nothing.
func TestReadAndDeleteIgnoreFamiliesWithSimilarIDs(t *testing.T) {
	modes(t, func(t *testing.T, b *harness.Backend, opts *compoundkey.Options) {
		f := newFamily(t, b, opts)
		ids := []string{"000123", "0001230", "000124", "00012", "000123_", "000123_2012", "000123`", "000123'", "000123/x", "000123 ", "000123😀"}
		for _, id := range ids {
			hire(t, f, id, "2012", "a_b", "c/d")
		}
		for _, id := range ids {
			m, err := f.Get(t.Context(), sales(id))
			if err != nil || m.Parent == nil || m.Parent.Value.ID != id || len(m.Children) != 3 {
				t.Fatalf("%q: %d children, %v", id, len(m.Children), err)
			}
			for _, c := range m.Children {
				assert.Equal(t, c.Value.EmployeeID, id, "a child of")
			}
		}
		assert.NoError(t, f.Delete(t.Context(), sales("000123")))
		for _, id := range ids[1:] {
			if m, err := f.Get(t.Context(), sales(id)); err != nil || len(m.Children) != 3 {
				t.Errorf("%q lost rows when %q was deleted: %v", id, ids[0], err)
			}
		}
	})
}

func TestARefusedReadReturnsNoMembers(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		f := newFamily(t, b, &compoundkey.Options{BareParent: true})
		hire(t, f, "1", "2012", "2013")
		b.Fault(storagetest.On("Table.Query").Nth(1).CutPage(2))
		b.Fault(storagetest.On("Table.Query").Nth(2).Status(403, "AuthorizationFailure"))
		defer b.ClearFaults()
		var refused *patterns.Error
		if m, err := f.Get(t.Context(), sales("1")); !errors.As(err, &refused) || refused.Status != 403 || m.Parent != nil || m.Children != nil {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

func TestShortAndEmptyPagesDoNotEndARead(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		f := newFamily(t, b, nil)
		hire(t, f, "1", "a", "b", "c", "d", "e")
		for _, rule := range []storagetest.Rule{
			storagetest.On("Table.Query").ShortPage(1), storagetest.On("Table.Query").Nth(1).EmptyPage(), storagetest.On("Table.Query").CutPage(2),
		} {
			b.Fault(rule)
			if m, err := f.Get(t.Context(), sales("1")); err != nil || m.Parent == nil || len(m.Children) != 5 {
				t.Errorf("read: %d children, %v", len(m.Children), err)
			}
			if got := yearsOf(t, f, sales("1"), compoundkey.Span{}); len(got) != 5 {
				t.Errorf("children: %v", got)
			}
			b.ClearFaults()
		}
	})
}

func TestPagesOfChildrenContinueFromTheirCursors(t *testing.T) {
	modes(t, func(t *testing.T, b *harness.Backend, opts *compoundkey.Options) {
		f := newFamily(t, b, opts)
		hire(t, f, "1", "2010", "2011", "2012", "2013")
		hire(t, f, "10", "2010")
		b.ResetRequests()
		var years []string
		pages, cursor := 0, ""
		for {
			page := assert.Must(f.Page(t.Context(), sales("1"), compoundkey.Span{From: "2011"}, cursor, &patterns.QueryOptions{PageSize: 2}))(t)
			for _, item := range page.Items {
				years = append(years, item.Value.Year)
			}
			pages++
			if cursor = page.Cursor; cursor == "" {
				break
			}
		}
		if !slices.Equal(years, []string{"2011", "2012", "2013"}) || pages != 2 {
			t.Errorf("%d pages with %v", pages, years)
		}
		b.WantRequestCount(t, 2)
	})
}
