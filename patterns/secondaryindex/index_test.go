package secondaryindex_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/query"
)

// The guide's layout, figure 07: two rows in one partition, inserted in one
// transaction.
func TestACopyStandsInThePartitionUnderNameAndValue(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		email := must(secondaryindex.Intra("email", emailOf))
		store := newStore(t, b.Table(t), nil, email)
		b.ResetRequests()
		insert(t, store, jones())
		wantRequests(t, b, map[string]int{"Table.Batch": 1})

		var rows []string
		for item, err := range store.Table().Query(t.Context(), query.PartitionKey.Eq("Sales"), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if item.Value.FirstName != "Mary" || item.Value.Age != 34 {
				t.Errorf("not a full copy: %+v", item.Value)
			}
			rows = append(rows, item.Key.Row)
		}
		if want := []string{"email_jonesj@contoso.com", "empid_000223"}; !slices.Equal(rows, want) {
			t.Errorf("rows %q, want %q", rows, want)
		}

		r := on(t, email, store)
		b.ResetRequests()
		e, err := r.Get(t.Context(), "Sales", "jonesj@contoso.com")
		if err != nil {
			t.Fatal(err)
		}
		wantRequests(t, b, map[string]int{"Table.Get": 1})
		if e.Value != *jones() { // also the keys: they are the primary's
			t.Errorf("value %+v", e.Value)
		}
		if e.Primary != jones().key() || e.Indexed != "jonesj@contoso.com" || e.Key.Row != "email_jonesj@contoso.com" || e.ETag == "" || e.Timestamp.IsZero() {
			t.Errorf("entry %+v", e)
		}
		if _, err := r.Get(t.Context(), "Sales", "nobody@contoso.com"); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("nobody: %v", err)
		}
		item, err := r.Hydrate(t.Context(), e)
		if err != nil || item.Value != *jones() || item.Key != jones().key() {
			t.Errorf("hydrate: %+v, %v", item, err)
		}
		wantRequests(t, b, map[string]int{"Table.Get": 2})
	})
}

func TestChangesMoveTheCopy(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		email := must(secondaryindex.Intra("email", emailOf))
		store := newStore(t, b.Table(t), nil, email)
		r := on(t, email, store)
		insert(t, store, jones())
		b.ResetRequests()

		older := func(e *employee) error { e.Age++; return nil }
		item, err := store.Update(t.Context(), jones().key(), older)
		if err != nil {
			t.Fatal(err)
		}
		wantRequests(t, b, map[string]int{"Table.Get": 1, "Table.Batch": 1})
		if e, err := r.Get(t.Context(), "Sales", "jonesj@contoso.com"); err != nil || e.Value.Age != 35 {
			t.Errorf("after a change of another property: %+v, %v", e.Value, err)
		}
		b.ResetRequests()

		moved := item.Value
		moved.EmailAddress = "mary@contoso.com"
		if item, err = store.PutItem(t.Context(), item, &moved); err != nil {
			t.Fatal(err)
		}
		wantRequests(t, b, map[string]int{"Table.Batch": 1})
		wantIDs(t, r.Lookup(t.Context(), "Sales", "jonesj@contoso.com", nil))
		wantIDs(t, r.Lookup(t.Context(), "Sales", "mary@contoso.com", nil), "000223")

		// Sparse: no value, no row.
		if _, err := store.UpdateItem(t.Context(), item, func(e *employee) error { e.EmailAddress = ""; return nil }); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, r.Range(t.Context(), "Sales", "", "", nil))
		if _, err := store.Update(t.Context(), jones().key(), func(e *employee) error { e.EmailAddress = "back@contoso.com"; return nil }); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, r.Range(t.Context(), "Sales", "", "", nil), "000223")

		if err := store.Delete(t.Context(), jones().key()); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, r.Range(t.Context(), "Sales", "", "", nil))
	})
}

func TestATakenValueWritesNothing(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		x, q := newIndexes(b.Table(t)), &queue{}
		store := newStore(t, b.Table(t), q, x.views()...)
		first, second := jones(), newEmployee("Sales", "000224", "Jim", "Smith", "jim@contoso.com")
		first.Badge, second.Badge = "17", "18"
		insert(t, store, first, second)

		for _, c := range []struct {
			view   string
			change func(*employee)
		}{
			{"email", func(e *employee) { e.EmailAddress = first.EmailAddress }},
			{"mail", func(e *employee) { e.EmailAddress = "JonesJ@CONTOSO.com" }}, // folded
			{"badge", func(e *employee) { e.Badge = first.Badge }},                // in another table
		} {
			hired := newEmployee("Sales", "000300", "Ann", "Lee", "ann@contoso.com")
			c.change(hired)
			_, err := store.Insert(t.Context(), hired)
			wantDuplicate(t, err, c.view)
			if _, err := store.Get(t.Context(), hired.key()); !errors.Is(err, patterns.ErrNotFound) {
				t.Errorf("%s: the primary is there: %v", c.view, err)
			}
			_, err = store.Update(t.Context(), second.key(), func(e *employee) error { c.change(e); return nil })
			wantDuplicate(t, err, c.view)
			if item, err := store.Get(t.Context(), second.key()); err != nil || item.Value != *second {
				t.Errorf("%s: changed to %+v, %v", c.view, item.Value, err)
			}
		}
		for _, ix := range []*secondaryindex.Index[employee]{x.email, x.slim, x.last} {
			if got := entries(t, on(t, ix, store).Range(t.Context(), "Sales", "", "", nil)); len(got) != 2 {
				t.Errorf("%s has %d entries", ix.Name(), len(got))
			}
		}
		wantIDs(t, on(t, x.badge, store).Range(t.Context(), "", "", "", nil), "000223", "000224")
		if !q.empty() {
			t.Error("wake-ups are left")
		}
	})
}

func wantDuplicate(t *testing.T, err error, view string) {
	t.Helper()
	var d *patterns.DuplicateError
	if !errors.As(err, &d) || d.View != view || !errors.Is(err, patterns.ErrExists) {
		t.Errorf("got %v, want a duplicate in %s", err, view)
	}
}

func TestAnIndexThatIsNotUniqueHasAllOfAValue(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		x := newIndexes(b.Table(t))
		store := newStore(t, b.Table(t), &queue{}, x.views()...)
		insert(t, store,
			newEmployee("Sales", "000300", "Jim", "Jones", "jim@contoso.com"),
			newEmployee("Sales", "000223", "Mary", "Jones", "mary@contoso.com"),
			newEmployee("Sales", "000152", "Ann", "Jones-Lee", "ann@contoso.com"),
			newEmployee("Sales", "000153", "Ben", "Jones Lee", "ben@contoso.com"),
			newEmployee("Sales", "000154", "Cid", "JONES", "cid@contoso.com"),
			newEmployee("Marketing", "000223", "Don", "Jones", "don@contoso.com"),
		)
		for _, ix := range []*secondaryindex.Index[employee]{x.last, x.byLast} {
			r := on(t, ix, store)
			b.ResetRequests()
			wantIDs(t, r.Lookup(t.Context(), "Sales", "Jones", nil), "000223", "000300")
			wantIDs(t, r.Prefix(t.Context(), "Sales", "Jones", nil), "000223", "000300", "000153", "000152")
			wantIDs(t, r.Prefix(t.Context(), "Sales", "Jones ", nil), "000153")
			wantIDs(t, r.Range(t.Context(), "Sales", "", "", nil), "000154", "000223", "000300", "000153", "000152")
			wantIDs(t, r.Range(t.Context(), "Sales", "Jones", "Jones-", nil), "000223", "000300", "000153")
			wantIDs(t, r.Range(t.Context(), "Sales", "Jones", "Jones", nil))
			wantRequests(t, b, map[string]int{"Table.Query": 5}) // nothing lies from Jones to Jones
			wantIDs(t, r.Lookup(t.Context(), "Marketing", "Jones", nil), "000223")
			if _, err := r.Get(t.Context(), "Sales", "Jones"); !errors.Is(err, secondaryindex.ErrNonUnique) {
				t.Errorf("get: %v", err)
			}
		}
	})
}

// Figure 10: the index's name leads the partition key.
func TestRowsOfOtherPartitionsAndTablesFollow(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		other := b.Table(t)
		email := must(secondaryindex.Inter("email", nil, emailOf))
		badge := must(secondaryindex.Inter("badge", other, badgeOf, secondaryindex.Options[employee]{
			Partition: func(e *employee) string { return "" }, Only: []string{"Badge"},
		}))
		q := &queue{}
		store := newStore(t, b.Table(t), q, email, badge)
		e := jones()
		e.Badge = "0042"
		insert(t, store, e)
		if !q.empty() {
			t.Error("a wake-up is left")
		}
		b.ResetRequests()
		got, err := on(t, email, store).Get(t.Context(), "Sales", "jonesj@contoso.com")
		if err != nil || got.Value != *e || got.Key != (keys.Key{Partition: "email_Sales", Row: "jonesj@contoso.com"}) {
			t.Errorf("e-mail: %+v, %v", got, err)
		}
		r := on(t, badge, store)
		got, err = r.Get(t.Context(), "", "0042")
		if err != nil || got.Primary != e.key() || got.Key != (keys.Key{Partition: "badge_", Row: "0042"}) {
			t.Errorf("badge: %+v, %v", got, err)
		}
		if want := (employee{PartitionKey: e.PartitionKey, RowKey: e.RowKey, Badge: "0042"}); got.Value != want {
			t.Errorf("slim copy: %+v", got.Value)
		}
		wantRequests(t, b, map[string]int{"Table.Get": 2})

		item, err := r.Hydrate(t.Context(), got)
		if err != nil || item.Value != *e {
			t.Errorf("hydrate: %+v, %v", item.Value, err)
		}
		if err := store.DeleteItem(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, r.Range(t.Context(), "", "", "", nil))
		if _, err := r.Hydrate(t.Context(), got); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("hydrate after delete: %v", err)
		}
	})
}

func TestReadsStopAtTheirLimitAndOutliveShortPages(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		email := must(secondaryindex.Intra("email", emailOf))
		store := newStore(t, b.Table(t), nil, email)
		var want []string
		for i := range 12 {
			id := fmt.Sprintf("%06d", i)
			want = append(want, id)
			insert(t, store, newEmployee("Sales", id, "A", "B", id+"@contoso.com"))
		}
		r := on(t, email, store)
		b.ResetRequests()
		wantIDs(t, r.Range(t.Context(), "Sales", "", "", &secondaryindex.ReadOptions{Limit: 3}), want[:3]...)
		wantRequests(t, b, map[string]int{"Table.Query": 1})
		wantIDs(t, r.Range(t.Context(), "Sales", "", "", &secondaryindex.ReadOptions{PageSize: 5}), want...)
		wantRequests(t, b, map[string]int{"Table.Query": 3})
		for range r.Range(t.Context(), "Sales", "", "", &secondaryindex.ReadOptions{PageSize: 5}) {
			break
		}
		wantRequests(t, b, map[string]int{"Table.Query": 1})
		b.Fault(
			fault.On("Table.Query").Nth(1).EmptyPage(),
			fault.On("Table.Query").Nth(2).ShortPage(2),
			fault.On("Table.Query").Nth(4).LoseReply(),
		)
		wantIDs(t, r.Prefix(t.Context(), "Sales", "0", nil), want...)
		b.ClearFaults()
		b.ResetRequests()
		for _, bad := range []secondaryindex.ReadOptions{{Limit: -1}, {PageSize: -1}, {PageSize: 1001}} {
			for _, err := range r.Range(t.Context(), "Sales", "", "", &bad) {
				if err == nil || errors.Is(err, patterns.ErrTooLarge) != (bad.PageSize > 1000) {
					t.Errorf("%+v: %v", bad, err)
				}
			}
		}
		wantRequests(t, b, nil)
	})
}
