package secondaryindex_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// updateDirectly changes a primary without the store, which leaves its copies stale.
func updateDirectly(t testing.TB, store *patterns.Store[employee], key keys.Key, change func(*employee)) {
	t.Helper()
	if _, err := store.Table().Update(t.Context(), key, func(e *employee) error { change(e); return nil }); err != nil {
		t.Fatal(err)
	}
}

func TestGetFreshReturnsThePrimary(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		x := newIndexes(t, b.Table(t))
		store := newStore(t, b.Table(t), &harness.OutboxQueue{}, x.views()...)
		first := jones()
		first.Badge = "17"
		insert(t, store, first)
		r := x.email.On(store)
		get := func(value string) (patterns.Item[employee], secondaryindex.Freshness, error) {
			t.Helper()
			b.ResetRequests()
			return r.GetFresh(t.Context(), "Sales", value, nil)
		}

		item, f, err := get(first.EmailAddress)
		if err != nil || f != secondaryindex.Fresh || item.Value != *first || item.Key != first.key() {
			t.Errorf("%+v, %v, %v", item, f, err)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 2})
		if _, err := store.PutItem(t.Context(), item, first); err != nil {
			t.Errorf("the item is not the primary: %v", err)
		}

		_, f, err = get("unknown@contoso.com")
		if !errors.Is(err, patterns.ErrNotFound) || f != secondaryindex.Fresh {
			t.Errorf("a value without an entry: %v, %v", f, err)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 1})

		// Another property changed: the primary is still found by the entry.
		updateDirectly(t, store, first.key(), func(e *employee) { e.Age = 50 })
		item, f, err = get(first.EmailAddress)
		if err != nil || f != secondaryindex.Stale || item.Value.Age != 50 {
			t.Errorf("%+v, %v, %v", item.Value, f, err)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 3})

		// The slim copy does not contain that property, so it is fresh.
		_, f, err = x.slim.On(store).GetFresh(t.Context(), "Sales", "JONESJ@contoso.com", nil)
		if err != nil || f != secondaryindex.Fresh {
			t.Errorf("slim: %v, %v", f, err)
		}

		// The value changes, then the primary is deleted.
		updateDirectly(t, store, first.key(), func(e *employee) { e.EmailAddress = "mary@contoso.com" })
		check := func() {
			t.Helper()
			if _, f, err = get(first.EmailAddress); !errors.Is(err, patterns.ErrNotFound) || f != secondaryindex.Stale {
				t.Errorf("%v, %v", f, err)
			}
			b.WantRequests(t, map[string]int{"Table.Get": 3})
			e, err := r.Get(t.Context(), "Sales", first.EmailAddress)
			if err != nil {
				t.Fatal(err)
			}
			if c, err := r.Check(t.Context(), e, nil); err != nil || c.Found {
				t.Errorf("check: %+v, %v", c, err)
			}
		}
		check()
		if err := store.Table().Delete(t.Context(), first.key(), ""); err != nil {
			t.Fatal(err)
		}
		check()
	})
}

// A copy that changes between the read of the copy and that of the primary is not stale.
func TestACopyThatChangedSinceIsReadAgain(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		email := secondaryindex.Intra("email", emailOf, nil)
		store := newStore(t, b.Table(t), nil, email)
		insert(t, store, jones())
		r := email.On(store)
		e, err := r.Get(t.Context(), "Sales", jones().EmailAddress)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Update(t.Context(), jones().key(), func(e *employee) error { e.Age = 50; return nil }); err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		c, err := r.Check(t.Context(), e, nil)
		if err != nil || c.Freshness != secondaryindex.Fresh || c.Value.Age != 50 || c.Item.Value.Age != 50 {
			t.Errorf("%+v, %v", c, err)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 3})

		if err := store.Delete(t.Context(), jones().key()); err != nil {
			t.Fatal(err)
		}
		if c, err = r.Check(t.Context(), e, nil); err != nil || c.Found {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

func TestSequencesAreCheckedInOrder(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		email := secondaryindex.Intra("email", emailOf, nil)
		store := newStore(t, b.Table(t), nil, email)
		const n = 20
		var want []string
		for i := range n {
			id := fmt.Sprintf("%06d", i)
			insert(t, store, newEmployee("Sales", id, "A", "B", id+"@contoso.com"))
			want = append(want, id)
		}
		updateDirectly(t, store, keys.Key{Partition: "Sales", Row: "empid_000003"}, func(e *employee) { e.Age = 50 })
		if err := store.Table().Delete(t.Context(), keys.Key{Partition: "Sales", Row: "empid_000012"}, ""); err != nil {
			t.Fatal(err)
		}
		r := email.On(store)
		all := func() func(func(secondaryindex.Entry[employee], error) bool) {
			return r.Query(t.Context(), "Sales", secondaryindex.Values{}, nil)
		}
		b.ResetRequests()
		var got []string
		for c, err := range r.CheckAll(t.Context(), all(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			id := c.Primary.Row[len("empid_"):]
			got = append(got, id)
			if stale := id == "000003" || id == "000012"; (c.Freshness == secondaryindex.Stale) != stale || c.Found != (id != "000012") {
				t.Errorf("%s: %v, found %v", id, c.Freshness, c.Found)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		b.WantRequests(t, map[string]int{"Table.Query": 1, "Table.Get": n + 2})

		for range r.CheckAll(t.Context(), all(), &secondaryindex.CheckOptions{Parallel: 4}) {
			break
		}
		if n := b.Requests().Count("Table.Get"); n > 5 { // one of the four is stale
			t.Errorf("%d reads for one entry", n)
		}
		// An error of the sequence is the last pair.
		count, last := 0, error(nil)
		for c, err := range r.CheckAll(t.Context(), r.Query(t.Context(), "Sales", secondaryindex.Values{}, &patterns.QueryOptions{PageSize: 1001}), nil) {
			if count, last = count+1, err; err != nil && c.Found {
				t.Error("an error with an entry")
			}
		}
		if count != 1 || !errors.Is(last, patterns.ErrTooLarge) {
			t.Errorf("%d pairs, %v", count, last)
		}
	})
}

func TestStaleCopiesAreRepairedOnRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		x, q := newIndexes(t, b.Table(t)), &harness.OutboxQueue{}
		store := newStore(t, b.Table(t), q, x.views()...)
		repair := &secondaryindex.CheckOptions{Repair: true}
		for _, c := range []struct {
			ix               *secondaryindex.Index[employee]
			partition, value string
		}{{x.email, "Sales", "jonesj@contoso.com"}, {x.badge, "", "17"}} {
			r := c.ix.On(store)
			first := jones()
			first.Badge = "17"
			insert(t, store, first)

			// The copy has another property value.
			updateDirectly(t, store, first.key(), func(e *employee) { e.Age = 50 })
			item, f, err := r.GetFresh(t.Context(), c.partition, c.value, repair)
			if err != nil || f != secondaryindex.Repaired || item.Value.Age != 50 {
				t.Errorf("%s: %+v, %v, %v", c.ix.Name(), item.Value, f, err)
			}
			if e, err := r.Get(t.Context(), c.partition, c.value); err != nil || e.Value.Age != 50 {
				t.Errorf("%s: %+v, %v", c.ix.Name(), e.Value, err)
			}
			if _, f, err = r.GetFresh(t.Context(), c.partition, c.value, repair); err != nil || f != secondaryindex.Fresh {
				t.Errorf("%s, after the repair: %v, %v", c.ix.Name(), f, err)
			}
			// The copy was deleted.
			e, err := r.Get(t.Context(), c.partition, c.value)
			if err != nil {
				t.Fatal(err)
			}
			raw := rawTable(t, x, c.ix, store)
			if err := raw.Delete(t.Context(), e.Key, ""); err != nil {
				t.Fatal(err)
			}
			updateDirectly(t, store, first.key(), func(e *employee) { e.Age = 51 })
			if checked, err := r.Check(t.Context(), e, repair); err != nil || checked.Freshness != secondaryindex.Repaired || !checked.Found {
				t.Errorf("%s: %+v, %v", c.ix.Name(), checked, err)
			}
			if e, err = r.Get(t.Context(), c.partition, c.value); err != nil || e.Value.Age != 51 {
				t.Errorf("%s: %+v, %v", c.ix.Name(), e.Value, err)
			}
			// The primary no longer has the value.
			updateDirectly(t, store, first.key(), func(e *employee) { e.EmailAddress, e.Badge = "", "" })
			if _, f, err = r.GetFresh(t.Context(), c.partition, c.value, repair); !errors.Is(err, patterns.ErrNotFound) || f != secondaryindex.Repaired {
				t.Errorf("%s: %v, %v", c.ix.Name(), f, err)
			}
			if _, err := r.Get(t.Context(), c.partition, c.value); !errors.Is(err, patterns.ErrNotFound) {
				t.Errorf("%s: still exists: %v", c.ix.Name(), err)
			}
			// The primary is deleted, and another one has the value.
			updateDirectly(t, store, first.key(), func(e *employee) { *e = *first })
			if err := store.Table().Delete(t.Context(), first.key(), ""); err != nil {
				t.Fatal(err)
			}
			second := newEmployee("Sales", "000500", "Ann", "Lee", first.EmailAddress)
			second.Badge = "17"
			insert(t, store, second)
			if item, f, err := r.GetFresh(t.Context(), c.partition, c.value, repair); err != nil || f != secondaryindex.Fresh || item.Value != *second {
				t.Errorf("%s: %+v, %v, %v", c.ix.Name(), item.Value, f, err)
			}
			// A repair for the former owner leaves the new one's row alone.
			if checked, err := r.Check(t.Context(), e, repair); err != nil || checked.Primary != second.key() {
				t.Errorf("%s: %+v, %v", c.ix.Name(), checked, err)
			}
			if err := store.Repair(t.Context(), first.key(), patterns.RowRef{View: c.ix.Name(), Partition: e.Key.Partition, Row: e.Key.Row}); err != nil {
				t.Error(err)
			}
			if _, err := r.Get(t.Context(), c.partition, c.value); err != nil {
				t.Errorf("%s: the new owner's row: %v", c.ix.Name(), err)
			}
			if err := store.Delete(t.Context(), second.key()); err != nil {
				t.Fatal(err)
			}
			if q.Len() != 0 {
				t.Error("messages are left")
			}
		}
	})
}

// A repair reads an orphan, and that its primary does not exist. Then the primary is
// inserted again, so that the row is correct and must stay.
func TestARepairNeverRemovesACopyThatIsCorrectAgain(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		x, q := newIndexes(t, b.Table(t)), &harness.OutboxQueue{}
		name := harness.UniqueName()
		store := newStore(t, b.NamedTable(t, name), q, x.views()...)
		for _, ix := range []*secondaryindex.Index[employee]{x.email, x.last, x.badge, x.byLast} {
			for at := range 8 {
				first := jones()
				first.Badge = "17"
				insert(t, store, first)
				if err := store.Table().Delete(t.Context(), first.key(), ""); err != nil {
					t.Fatal(err)
				}
				slow := newStore(t, b.AfterEachTry(t, name, func(try int) {
					if try == at {
						insert(t, store, first)
					}
				}), q, x.views()...)
				key := assert.Must(assert.Must(ix.Engine())(t).Rows(first))(t)[0].Key
				if err := slow.Repair(t.Context(), first.key(), patterns.RowRef{View: ix.Name(), Partition: key.Partition, Row: key.Row}); err != nil {
					t.Fatal(err)
				}
				_, back := store.Get(t.Context(), first.key())
				if _, err := rawTable(t, x, ix, store).Get(t.Context(), key); (err == nil) != (back == nil) {
					t.Errorf("%s, after try %d: reading the primary: %v; reading the copy: %v", ix.Name(), at, back, err)
				}
				if err := store.Delete(t.Context(), first.key()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// After a repair crashed at any request, the worker and the next repair leave everything
// correct.
func TestARepairMayCrashAnywhere(t *testing.T) {
	var messages *harness.OutboxQueue // outlives the process; the runs come one after the other
	open := func(account *storagetest.Account) *world {
		w := &world{account: account, queue: messages}
		tables := account.TablesWith(harness.Accelerated())
		w.x = newIndexes(t, tables.NewClient("Badges"))
		w.store = newStore(t, tables.NewClient("Employees"), w.queue, w.x.views()...)
		return w
	}
	storagetest.CrashPoints(t,
		func(ctx context.Context, account *storagetest.Account) error {
			messages = &harness.OutboxQueue{}
			w := open(account)
			for _, name := range []string{"Employees", "Badges"} {
				if _, err := account.Tables().CreateTable(ctx, name, nil); err != nil {
					return err
				}
			}
			deleted, changed := jones(), newEmployee("Sales", "000152", "Ann", "Lee", "ann@contoso.com")
			deleted.Badge, changed.Badge = "17", "18"
			for _, e := range []*employee{deleted, changed} {
				if _, err := w.store.Insert(ctx, e); err != nil {
					return err
				}
			}
			if err := w.store.Table().Delete(ctx, deleted.key(), ""); err != nil {
				return err
			}
			if _, err := w.store.Table().Update(ctx, changed.key(), func(e *employee) error { e.Age++; return nil }); err != nil {
				return err
			}
			account.Arm()
			return w.repair(ctx)
		},
		func(t *testing.T, account *storagetest.Account) {
			w := open(account)
			for w.queue.Len() != 0 {
				time.Sleep(time.Minute)
				if err := w.queue.Work(t.Context(), w.store.Handle); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.repair(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := w.check(t.Context()); err != nil {
				t.Error(err)
			}
			r := w.x.badge.On(w.store)
			wantIDs(t, r.Query(t.Context(), "", secondaryindex.Values{}.In("badge_"), &patterns.QueryOptions{}), "000152")
			if _, err := w.store.Get(t.Context(), keys.Key{Partition: "Sales", Row: "empid_000152"}); err != nil {
				t.Error(err)
			}
		})
}

// The Store passes it a copy of the entity, and so does the Reader.
func TestAFunctionThatFoldsItsValueInPlaceChangesNoEntity(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		index := secondaryindex.Intra("email", func(e *employee) (string, bool) {
			e.EmailAddress = strings.ToLower(e.EmailAddress)
			return e.EmailAddress, true
		}, nil)
		store := newStore(t, b.Table(t), nil, index)
		insert(t, store, newEmployee("Sales", "1", "Mary", "Jones", "MaryJ"))
		item, fresh, err := index.On(store).GetFresh(t.Context(), "Sales", "maryj", nil)
		if err != nil || fresh != secondaryindex.Fresh || item.Value.EmailAddress != "MaryJ" {
			t.Errorf("%v entity with %q, %v", fresh, item.Value.EmailAddress, err)
		}
	})
}
