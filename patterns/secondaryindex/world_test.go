package secondaryindex_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
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

// world is a store with its own account.
type world struct {
	account *storagetest.Account
	store   *patterns.Store[employee]
	queue   *harness.OutboxQueue
	x       indexes
}

func newWorld(t testing.TB, seed uint64) *world {
	t.Helper()
	w := &world{account: storagetest.Start(&storagetest.Options{Seed: seed}), queue: &harness.OutboxQueue{}}
	tables := w.account.TablesWith(harness.Accelerated())
	for _, name := range []string{"Employees", "Badges"} {
		assert.NoError(t, assert.ErrorOf(tables.CreateTable(t.Context(), name, nil)))
	}
	w.x = newIndexes(t, tables.NewClient("Badges"))
	w.store = newStore(t, tables.NewClient("Employees"), w.queue, w.x.views()...)
	return w
}

// repair repairs all copies.
func (w *world) repair(ctx context.Context) error {
	for _, ix := range w.all() {
		r := ix.On(w.store)
		for _, p := range w.partitions(ix) {
			for _, err := range r.CheckAll(ctx, w.entries(ctx, ix, r, p), &secondaryindex.CheckOptions{Repair: true}) {
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *world) all() []*secondaryindex.Index[employee] {
	return []*secondaryindex.Index[employee]{w.x.email, w.x.last, w.x.badge, w.x.byLast, w.x.slim}
}

// entries returns the entries of one of the partitions.
func (w *world) entries(ctx context.Context, ix *secondaryindex.Index[employee], r *secondaryindex.Reader[employee], partition string) iter.Seq2[secondaryindex.Entry[employee], error] {
	if ix == w.x.badge {
		return r.Query(ctx, "", secondaryindex.Values{}.In(partition), nil)
	}
	return r.Query(ctx, partition, secondaryindex.Values{}, nil)
}

func (w *world) partitions(ix *secondaryindex.Index[employee]) []string {
	if ix == w.x.badge {
		return []string{"badge_"}
	}
	return []string{"Sales", "Marketing"}
}

// check compares all entries that the readers return with what the primaries imply.
func (w *world) check(ctx context.Context) error {
	var primaries []employee
	for item, err := range w.store.Table().Query(ctx, query.RowKey.Within(keys.Prefix("empid_")), &patterns.QueryOptions{Allow: query.TableScan}) {
		if err != nil {
			return err
		}
		primaries = append(primaries, item.Value)
	}
	var got []string
	for _, ix := range w.all() {
		r := ix.On(w.store)
		for _, p := range w.partitions(ix) {
			for c, err := range r.CheckAll(ctx, w.entries(ctx, ix, r, p), nil) {
				if err != nil {
					return err
				}
				if c.Freshness != secondaryindex.Fresh || !c.Found || c.Item.Key != c.Primary {
					return fmt.Errorf("%s: %v is %v, found %v", ix.Name(), c.Key, c.Freshness, c.Found)
				}
				got = append(got, line(ix.Name(), c.Key, c.Value))
			}
		}
	}
	return compare(got, w.implied(primaries, w.all()...))
}

// implied returns the expected entries, computed without the code under test.
func (w *world) implied(primaries []employee, all ...*secondaryindex.Index[employee]) []string {
	var lines []string
	for _, e := range primaries {
		id := e.RowKey
		last := strings.Replace(e.LastName, "Jones ", "Jones !", 1) + "  " + id
		for _, ix := range all {
			switch {
			case ix == w.x.email && e.EmailAddress != "":
				lines = append(lines, line("email", keys.Key{Partition: e.PartitionKey, Row: "email_" + e.EmailAddress}, e))
			case ix == w.x.last:
				lines = append(lines, line("last", keys.Key{Partition: e.PartitionKey, Row: "last_" + last}, e))
			case ix == w.x.badge && e.Badge != "":
				lines = append(lines, line("badge", keys.Key{Partition: "badge_", Row: e.Badge}, e))
			case ix == w.x.byLast:
				lines = append(lines, line("lastname", keys.Key{Partition: "lastname_" + e.PartitionKey, Row: last}, e))
			case ix == w.x.slim && e.EmailAddress != "":
				slim := employee{PartitionKey: e.PartitionKey, RowKey: id, FirstName: e.FirstName, LastName: e.LastName}
				lines = append(lines, line("mail", keys.Key{Partition: e.PartitionKey, Row: "mail_" + strings.ToLower(e.EmailAddress)}, slim))
			}
		}
	}
	return lines
}

func line(index string, key keys.Key, e employee) string {
	return fmt.Sprintf("%s %q %+v", index, key, e)
}

func compare(got, want []string) error {
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return errors.New("got\n" + strings.Join(got, "\n") + "\nwant\n" + strings.Join(want, "\n"))
	}
	return nil
}
