package secondaryindex_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// wantRefused checks that NewStore and the reader of an index return the error of its declaration
// before any request. want may be nil.
func wantRefused[T any](t *testing.T, what string, index *secondaryindex.Index[T], want error, key func(*T) (keys.Key, error)) {
	t.Helper()
	ctx, acct := t.Context(), storagetest.New(t)
	table := harness.NewTable(t, acct.Tables().NewClient("Staff"), &patterns.TableOptions[T]{Key: key})
	var v *patterns.ViewError
	_, err := patterns.NewStore(table, &patterns.StoreOptions[T]{Views: []patterns.View[T]{index}, Outbox: &harness.OutboxQueue{}})
	if !errors.As(err, &v) || v.View != index.Name() {
		t.Errorf("%s: the store: %v", what, err)
	}
	r := index.On(assert.Must(patterns.NewStore(table, nil))(t))
	_, get := r.Get(ctx, "Sales", "a")
	_, _, fresh := r.GetFresh(ctx, "Sales", "a", nil)
	_, page := r.Page(ctx, "Sales", secondaryindex.Equal("a"), "", nil)
	_, check := r.Check(ctx, secondaryindex.Entry[T]{}, nil)
	errs := map[string]error{"NewStore": err, "Get": get, "GetFresh": fresh, "Page": page, "Check": check}
	for _, err := range r.Query(ctx, "Sales", secondaryindex.Equal("a"), nil) {
		errs["Query"] = err
	}
	for _, err := range r.Pages(ctx, "Sales", secondaryindex.Equal("a"), "", nil) {
		errs["Pages"] = err
	}
	for _, err := range r.CheckAll(ctx, func(func(secondaryindex.Entry[T], error) bool) {}, nil) {
		errs["CheckAll"] = err
	}
	_, errs["Engine"] = index.Engine()
	for call, err := range errs {
		if err == nil || call != "Engine" && !errors.Is(err, patterns.ErrBadView) || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %s: got %v, want %v", what, call, err, want)
		}
	}
	if n := len(acct.Log()); n != 0 || len(errs) != 9 {
		t.Errorf("%s: %d requests, errors %v", what, n, errs)
	}
}

func TestInvalidArgumentsAreRefused(t *testing.T) {
	type keyless struct{ Name string }
	type options = secondaryindex.Options[employee]
	badges := func(_, _ string) string { return "badge_" }
	unique := secondaryindex.Intra("unique", emailOf, nil)
	for what, c := range map[string]struct {
		index *secondaryindex.Index[employee]
		want  error
	}{
		"name":           {secondaryindex.Intra("e_mail", emailOf, nil), patterns.ErrBadKey},
		"no name":        {secondaryindex.Inter("", nil, emailOf, nil), patterns.ErrBadKey},
		"no function":    {secondaryindex.Intra[employee]("email", nil, nil), patterns.ErrNil},
		"partition":      {secondaryindex.Intra("email", emailOf, &options{Partition: badges}), patterns.ErrBadOption},
		"duplicates":     {secondaryindex.Intra("email", emailOf, &options{Duplicates: unique}), patterns.ErrBadOption},
		"no such column": {secondaryindex.Intra("email", emailOf, &options{Only: []string{"Salary"}}), nil},
		"two mistakes":   {secondaryindex.Intra[employee]("e_mail", nil, &options{Only: []string{"Salary"}}), patterns.ErrBadKey},
	} {
		wantRefused(t, what, c.index, c.want, nil)
	}
	wantRefused(t, "no key", secondaryindex.Intra("name", func(k *keyless) (string, bool) { return k.Name, true }, nil), patterns.ErrBadKey,
		func(k *keyless) (keys.Key, error) { return keys.Key{Partition: "p", Row: k.Name}, nil })
	if _, err := secondaryindex.Intra("n", func(*int) (string, bool) { return "", true }, nil).Engine(); err == nil {
		t.Error("an index of entities that are no structs was accepted")
	}
	store := harness.NewStore[employee](t, storagetest.New(t).Tables().NewClient("Staff"), nil)
	for what, r := range map[string]*secondaryindex.Reader[employee]{
		"no store": unique.On(nil), "no index": (*secondaryindex.Index[employee])(nil).On(store),
	} {
		if _, err := r.Get(t.Context(), "Sales", "a"); !errors.Is(err, patterns.ErrNil) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestStoresRefuseIndexesThatDoNotFit(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[employee](t, b.Table(t), nil)
		intra, inter := secondaryindex.Intra("email", emailOf, nil), secondaryindex.Inter("email", nil, emailOf, nil)
		for name, o := range map[string]patterns.StoreOptions[employee]{
			"two of a name": {Views: []patterns.View[employee]{intra, inter}, Outbox: &harness.OutboxQueue{}},
			"no outbox":     {Views: []patterns.View[employee]{inter}},
		} {
			if _, err := patterns.NewStore(table, &o); !errors.Is(err, patterns.ErrBadView) || !strings.Contains(err.Error(), `"email"`) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// The guide's layout, figure 07: two rows in one partition, inserted in one transaction.
func TestACopyIsStoredInThePartitionUnderNameAndValue(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		email := secondaryindex.Intra("email", emailOf, nil)
		store := newStore(t, b.Table(t), nil, email)
		b.ResetRequests()
		insert(t, store, jones())
		b.WantRequests(t, map[string]int{"Table.Batch": 1})

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

		r := email.On(store)
		b.ResetRequests()
		e, err := r.Get(t.Context(), "Sales", "jonesj@contoso.com")
		if err != nil {
			t.Fatal(err)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 1})
		if e.Value != *jones() { // including the keys, which are the primary's
			t.Errorf("value %+v", e.Value)
		}
		if e.Primary != jones().key() || e.Indexed != "jonesj@contoso.com" || e.Key.Row != "email_jonesj@contoso.com" || e.ETag == "" || e.Timestamp.IsZero() {
			t.Errorf("entry %+v", e)
		}
		if _, err := r.Get(t.Context(), "Sales", "unknown@contoso.com"); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("a value without an entry: %v", err)
		}
		c, err := r.Check(t.Context(), e, nil)
		if err != nil || c.Item.Value != *jones() || c.Item.Key != jones().key() {
			t.Errorf("check: %+v, %v", c.Item, err)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 2})
	})
}

func TestChangesMoveTheCopy(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		email := secondaryindex.Intra("email", emailOf, nil)
		store := newStore(t, b.Table(t), nil, email)
		r := email.On(store)
		insert(t, store, jones())
		b.ResetRequests()

		older := func(e *employee) error { e.Age++; return nil }
		item, err := store.Update(t.Context(), jones().key(), older)
		if err != nil {
			t.Fatal(err)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Batch": 1})
		if e, err := r.Get(t.Context(), "Sales", "jonesj@contoso.com"); err != nil || e.Value.Age != 35 {
			t.Errorf("after a change of another property: %+v, %v", e.Value, err)
		}
		b.ResetRequests()

		moved := item.Value
		moved.EmailAddress = "mary@contoso.com"
		if item, err = store.PutItem(t.Context(), item, &moved); err != nil {
			t.Fatal(err)
		}
		b.WantRequests(t, map[string]int{"Table.Batch": 1})
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Equal("jonesj@contoso.com"), nil))
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Equal("mary@contoso.com"), nil), "000223")

		// Sparse: no value, no row.
		if _, err := store.UpdateItem(t.Context(), item, func(e *employee) error { e.EmailAddress = ""; return nil }); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Values{}, nil))
		if _, err := store.Update(t.Context(), jones().key(), func(e *employee) error { e.EmailAddress = "back@contoso.com"; return nil }); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Values{}, nil), "000223")

		if err := store.Delete(t.Context(), jones().key()); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Values{}, nil))
	})
}

func TestATakenValueWritesNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		x, q := newIndexes(t, b.Table(t)), &harness.OutboxQueue{}
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
				t.Errorf("%s: the primary exists: %v", c.view, err)
			}
			_, err = store.Update(t.Context(), second.key(), func(e *employee) error { c.change(e); return nil })
			wantDuplicate(t, err, c.view)
			if item, err := store.Get(t.Context(), second.key()); err != nil || item.Value != *second {
				t.Errorf("%s: changed to %+v, %v", c.view, item.Value, err)
			}
		}
		for _, ix := range []*secondaryindex.Index[employee]{x.email, x.slim, x.last} {
			if got := assert.All(t, ix.On(store).Query(t.Context(), "Sales", secondaryindex.Values{}, nil)); len(got) != 2 {
				t.Errorf("%s has %d entries", ix.Name(), len(got))
			}
		}
		wantIDs(t, x.badge.On(store).Query(t.Context(), "", secondaryindex.Values{}.In("badge_"), nil), "000223", "000224")
		if q.Len() != 0 {
			t.Error("messages are left")
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

// Figure 10: the partition key begins with the index's name.
func TestCopiesInOtherPartitionsAndTablesAreUpdated(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		other := b.Table(t)
		email := secondaryindex.Inter("email", nil, emailOf, nil)
		badge := secondaryindex.Inter("badge", other, badgeOf, &secondaryindex.Options[employee]{
			Partition: func(_, _ string) string { return "badge_" }, Only: []string{"Badge"},
		})
		q := &harness.OutboxQueue{}
		store := newStore(t, b.Table(t), q, email, badge)
		e := jones()
		e.Badge = "0042"
		insert(t, store, e)
		if q.Len() != 0 {
			t.Error("a message is left")
		}
		b.ResetRequests()
		got, err := email.On(store).Get(t.Context(), "Sales", "jonesj@contoso.com")
		if err != nil || got.Value != *e || got.Key != (keys.Key{Partition: "email_Sales", Row: "jonesj@contoso.com"}) {
			t.Errorf("e-mail: %+v, %v", got, err)
		}
		r := badge.On(store)
		got, err = r.Get(t.Context(), "", "0042")
		if err != nil || got.Primary != e.key() || got.Key != (keys.Key{Partition: "badge_", Row: "0042"}) {
			t.Errorf("badge: %+v, %v", got, err)
		}
		if want := (employee{PartitionKey: e.PartitionKey, RowKey: e.RowKey, Badge: "0042"}); got.Value != want {
			t.Errorf("slim copy: %+v", got.Value)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 2})

		c, err := r.Check(t.Context(), got, nil)
		if err != nil || c.Item.Value != *e || c.Freshness != secondaryindex.Fresh {
			t.Errorf("check: %+v, %v", c, err)
		}
		if err := store.DeleteItem(t.Context(), c.Item); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, r.Query(t.Context(), "", secondaryindex.Values{}.In("badge_"), nil))
		if c, err := r.Check(t.Context(), got, nil); err != nil || c.Found {
			t.Errorf("check after delete: %+v, %v", c, err)
		}
	})
}

// The requests that the package documents, without the two that put and delete the outbox
// message.
func TestWritesMakeTheDocumentedRequests(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		shared := &secondaryindex.Options[employee]{NonUnique: true}
		for name, c := range map[string]struct {
			ix                   *secondaryindex.Index[employee]
			insert, move, remove int
		}{
			"intra":         {secondaryindex.Intra("email", emailOf, nil), 1, 2, 2},
			"intra, shared": {secondaryindex.Intra("email", emailOf, shared), 1, 2, 2},
			"inter":         {secondaryindex.Inter("email", nil, emailOf, nil), 4, 8, 6},
			"inter, shared": {secondaryindex.Inter("email", nil, emailOf, shared), 4, 7, 6},
		} {
			store := newStore(t, b.Table(t), &harness.OutboxQueue{}, c.ix)
			requests := func(do error) int {
				t.Helper()
				if do != nil {
					t.Fatal(name, do)
				}
				defer b.ResetRequests()
				return len(b.Requests())
			}
			b.ResetRequests()
			_, err := store.Insert(t.Context(), jones())
			insert := requests(err)
			_, err = store.Update(t.Context(), jones().key(), func(e *employee) error { e.EmailAddress = "mary@contoso.com"; return nil })
			move := requests(err)
			remove := requests(store.Delete(t.Context(), jones().key()))
			if insert != c.insert || move != c.move || remove != c.remove {
				t.Errorf("%s: insert %d, change of the value %d, delete %d; want %d, %d, %d", name, insert, move, remove, c.insert, c.move, c.remove)
			}
		}
	})
}

// A program that folds the values of an index cannot change entities that a program wrote
// which does not fold them: it would replace copies of other entities.
func TestAnIndexWithOtherOptionsNeedsAnotherName(t *testing.T) {
	type options = secondaryindex.Options[employee]
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx, client := t.Context(), b.Table(t)
		store := func(opts *options) *patterns.Store[employee] {
			table := assert.Must(patterns.NewTable[employee](client, nil))(t)
			index := secondaryindex.Intra("email", emailOf, opts)
			return assert.Must(patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{index}}))(t)
		}
		plain := store(nil)
		_, err := plain.Insert(ctx, jones())
		assert.NoError(t, err)
		change := func(e *employee) error { e.Age++; return nil }
		for what, opts := range map[string]*options{
			"fold": {Fold: true}, "not unique": {NonUnique: true}, "slim": {Only: []string{"Age"}}, "empty": {Only: []string{}}, "version": {Version: "2"},
			"copy": {Copy: func(e *employee) employee { return *e }},
		} {
			_, err := store(opts).Update(ctx, jones().key(), change)
			var m *patterns.ViewMismatchError
			if !errors.As(err, &m) || m.View != "email" || m.Missing {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err = store(&options{}).Update(ctx, jones().key(), change)
		assert.NoError(t, err)
	})
}
