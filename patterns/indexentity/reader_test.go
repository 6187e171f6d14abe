package indexentity_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestReadsMakeTheDocumentedRequests(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world, home string) {
		for i := range 5 {
			w.hire(t, fmt.Sprint(i), "Jones")
		}
		b.ResetRequests()
		w.members(t, "Jones")
		b.WantRequestCount(t, 1)
		for range w.index.Query(t.Context(), "Sales", "Jones", nil) {
		}
		b.WantRequestCount(t, 1+5)
	})
}

func TestEntitiesAreReadConcurrentlyWithinBounds(t *testing.T) {
	for parallel, waves := range map[int]int{0: 3, 1: 20, 5: 4, 100: 1} { // of 20 members; 0 is 8
		synctest.Test(t, func(t *testing.T) {
			acct := storagetest.New(t)
			index := indexentity.Intra("lastname", lastName, nil)
			table := harness.NewTable[employee](t, acct.Tables().NewClient("Staff"), nil)
			assert.NoError(t, table.Create(t.Context()))
			store := assert.Must(patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{index}}))(t)
			for i := range 20 {
				if _, err := store.Insert(t.Context(), &employee{Department: "Sales", ID: fmt.Sprintf("%02d", i), LastName: "Jones"}); err != nil {
					t.Fatal(err)
				}
			}
			reader := index.On(store)
			acct.Fault(storagetest.On("Table.Get").DelayReply(time.Second))
			began, n := time.Now(), 0
			for item, err := range reader.Query(t.Context(), "Sales", "Jones", &patterns.QueryOptions{Parallel: parallel}) {
				assert.NoError(t, err)
				assert.Equal(t, item.Key.Row, fmt.Sprintf("%02d", n))
				n++
			}
			if took := time.Since(began); n != 20 || took != time.Duration(1+waves)*time.Second {
				t.Errorf("parallel %d: %d entities in %v, want the time of the list and of %d reads in sequence", parallel, n, took, waves)
			}
		})
	}
}

func TestMembersThatWereDeletedOrHaveChangedAreLeftOut(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world, home string) {
		w.hire(t, "1", "Jones")
		w.hire(t, "2", "Jones")
		w.hire(t, "3", "Jones")
		// Without the store: the list is out of date.
		table := w.store.Table()
		assert.NoError(t, table.Delete(t.Context(), keys.Key{Partition: "Sales", Row: "1"}, ""))
		assert.NoError(t, assert.ErrorOf(table.Upsert(t.Context(), &employee{Department: "Sales", ID: "2", LastName: "Smith"}, patterns.Replace)))
		var got []string
		for item, err := range w.index.Query(t.Context(), "Sales", "Jones", nil) {
			assert.NoError(t, err)
			got = append(got, item.Key.Row)
		}
		assert.EqualSlices(t, got, []string{"3"})
	})
}

func TestAReaderNeedsAStoreThatHasItsIndex(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := assert.Must(newWorld(b.Table(t), nil, nil, "same partition", nil))(t)
		other := indexentity.Intra("lastname", lastName, nil)
		if _, err := other.On(w.store).Get(t.Context(), "Sales", "Jones"); !errors.Is(err, patterns.ErrBadView) || !strings.Contains(err.Error(), `"lastname"`) {
			t.Errorf("another index of the same name: %v", err)
		}
	})
}

func TestQueriesStopAtTheirLimit(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world, home string) {
		for i := range 9 {
			w.hire(t, fmt.Sprint(i), "Jones")
		}
		b.ResetRequests()
		n := 0
		for _, err := range w.index.Query(t.Context(), "Sales", "Jones", &patterns.QueryOptions{Limit: 2}) {
			assert.NoError(t, err)
			n++
		}
		if requests := len(b.Requests()); n != 2 || requests > 1+2+2 { // two may be read ahead
			t.Errorf("%d entities with %d requests", n, requests)
		}
		for _, err := range w.index.Query(t.Context(), "Sales", "Jones", &patterns.QueryOptions{Limit: -1}) {
			assert.WantError(t, err, patterns.ErrBadOption, "a negative limit")
		}
		for _, err := range w.index.Query(t.Context(), "Sales", "Jones", &patterns.QueryOptions{Select: []string{"LastName"}}) {
			assert.WantError(t, err, patterns.ErrBadOption, "a selection")
		}
	})
}

func TestPagesContinueAtTheirCursor(t *testing.T) {
	each(t, func(t *testing.T, b *harness.Backend, w *world, home string) {
		for i := range 5 {
			w.hire(t, fmt.Sprint(i), "Jones")
		}
		w.hire(t, "9", "Kwok")
		page := func(name, cursor string) (patterns.Page[employee], error) {
			return w.index.Page(t.Context(), "Sales", name, cursor, &patterns.QueryOptions{Limit: 2})
		}
		first, err := page("Jones", "")
		if err != nil || first.Cursor == "" {
			t.Fatalf("%+v, %v", first, err)
		}
		b.ResetRequests()
		var got []string
		for p := first; ; {
			for _, item := range p.Items {
				got = append(got, item.Key.Row)
			}
			if p.Cursor == "" {
				break
			}
			if p, err = page("Jones", p.Cursor); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(b.Requests()); n != 2+3 || !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("got %q with %d requests, want 2 + 3", got, n)
		}

		// The last entity of the page is deleted, and a new one precedes it.
		assert.NoError(t, w.store.Delete(t.Context(), keys.Key{Partition: "Sales", Row: "1"}))
		w.hire(t, "00", "Jones")
		if p, err := page("Jones", first.Cursor); err != nil || len(p.Items) != 2 || p.Items[0].Key.Row != "2" {
			t.Errorf("after changes: %+v, %v", p, err)
		}
		for what, c := range map[string]struct{ name, cursor string }{
			"a damaged cursor":        {"Jones", first.Cursor + "x"},
			"a cursor of other names": {"Kwok", first.Cursor},
		} {
			assert.WantError(t, assert.ErrorOf(page(c.name, c.cursor)), patterns.ErrBadCursor, what)
		}
		if p, err := page("Nemo", ""); err != nil || p.Cursor != "" || len(p.Items) != 0 {
			t.Errorf("a missing list: %+v, %v", p, err)
		}
	})
}

func TestACursorOfAnotherTableIsRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for home := range homes {
			var cursors []string
			var worlds []*world
			for range 2 {
				w := assert.Must(newWorld(b.Table(t), b.Table(t), b.Container(t), home, &harness.OutboxQueue{}))(t)
				w.hire(t, "1", "Jones")
				w.hire(t, "2", "Jones")
				p := assert.Must(w.index.Page(t.Context(), "Sales", "Jones", "", &patterns.QueryOptions{Limit: 1}))(t)
				cursors, worlds = append(cursors, p.Cursor), append(worlds, w)
			}
			assert.WantError(t, assert.ErrorOf(worlds[0].index.Page(t.Context(), "Sales", "Jones", cursors[1], nil)), patterns.ErrBadCursor, home)
		}
	})
}

func TestFailedRequestsForABlobAreErrorsOfTheLibrary(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		index := homes["blob"](nil, b.Container(t))
		var pending error
		store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[employee]{
			Views: []patterns.View[employee]{index}, Outbox: &harness.OutboxQueue{},
			OnPending: func(_ context.Context, _ keys.Key, err error) { pending = err },
		})
		reader := index.On(store)
		want := func(err error, op string, status int, kind error) {
			t.Helper()
			var e *patterns.Error
			if !errors.As(err, &e) || e.Op != op || e.Status != status || !errors.Is(err, kind) || strings.Contains(err.Error(), "Jones") {
				t.Errorf("got %v, want %q, %d, %v", err, op, status, kind)
			}
		}
		b.Fault(storagetest.On("Blob.Get").Status(http.StatusServiceUnavailable, "ServerBusy"))
		_, err := reader.Get(t.Context(), "", "Jones")
		want(err, "get list blob", http.StatusServiceUnavailable, patterns.ErrThrottled)
		b.ClearFaults()

		b.Fault(storagetest.On("Blob.Put").LoseRequest())
		assert.NoError(t, assert.ErrorOf(store.Insert(t.Context(), &employee{Department: "Sales", ID: "1", LastName: "Jones"})))
		want(pending, "put list blob", 0, patterns.ErrOutcomeUnknown)
		b.ClearFaults()
		assert.NoError(t, store.Repair(t.Context(), keys.Key{Partition: "Sales", Row: "1"}))
		b.Fault(storagetest.On("Blob.Delete").LoseRequest())
		assert.NoError(t, store.Delete(t.Context(), keys.Key{Partition: "Sales", Row: "1"}))
		want(pending, "delete list blob", 0, patterns.ErrOutcomeUnknown)
	})
}
