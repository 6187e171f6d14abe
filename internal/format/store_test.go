package format_test

import (
	"context"
	"errors"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

var storeGroups = []group{
	{name: "row", write: writeRow, read: readRow},
	{name: "store", write: writeStore, read: readStore},
	{name: "lookup", write: writeLookup, read: readLookup},
	{name: "expiry", write: writeExpiry, read: readExpiry},
	{name: "journal", write: writeJournal, read: readJournal},
	{name: "feed", write: writeFeed, read: readFeed},
}

// employee has a property of each type.
type employee struct {
	Department string `table:"PartitionKey"`
	ID         string `table:"RowKey"`
	Name       string
	Email      string
	City       string
	Manager    bool
	Salary     float64
	Badge      int32
	Account    int64
	Hired      time.Time
	Photo      []byte
	Tags       []string `table:",json"`
}

var hired = time.Date(2014, 7, 31, 9, 30, 0, 123_456_700, time.UTC)

func newEmployee(id, name, city string) *employee {
	return &employee{
		"Sales", id, name, name + "@contoso.com", city, id == "1", 1234.5, 7, 1 << 40, hired, []byte{1, 2, 3}, []string{"a", "b"},
	}
}

func employeeKey(id string) keys.Key { return keys.Key{Partition: "Sales", Row: id} }

func writeRow(w *world) {
	table, err := patterns.NewTable(w.table("people"), &patterns.TableOptions[employee]{StampWrites: true})
	w.must(err)
	item, err := table.Insert(w.Context(), newEmployee("1", "jones", "Oslo"))
	w.must(err)
	item.Value.City = "Bergen"
	_, err = table.Replace(w.Context(), item)
	w.must(err)
	_, err = table.Insert(w.Context(), newEmployee("2", "cao", "Oslo"))
	w.must(err)
}

// An old row is changed under its stamps: a lost reply is resolved as for a row of this version.
func readRow(w *world) {
	table, err := patterns.NewTable(w.table("people"), &patterns.TableOptions[employee]{StampWrites: true})
	w.must(err)
	item, err := table.Get(w.Context(), employeeKey("1"))
	w.must(err)
	want := newEmployee("1", "jones", "Bergen")
	w.equal(item.Value, *want)
	w.must(w.Fault(loseReply("Table.Replace")))
	item.Value.City = "Paris"
	_, err = table.Replace(w.Context(), item)
	w.must(err)
}

// people is a Store with a view of each kind, in the partition and elsewhere.
type people struct {
	*patterns.Store[employee]
	email, city *secondaryindex.Reader[employee]
	name, team  *indexentity.Reader[employee]
	tags        *indexentity.Reader[employee]
}

func newPeople(w *world) *people {
	w.Helper()
	return newPeopleThat(w, patterns.Immediately)
}

func newPeopleThat(w *world, follow patterns.Follow) *people {
	w.Helper()
	table, err := patterns.NewTable[employee](w.table("people"), nil)
	w.must(err)
	outbox, err := eventual.NewOutbox(w.queue("outbox"), "people", nil)
	w.must(err)
	email := secondaryindex.Inter("email", w.table("people"), func(e *employee) (string, bool) { return e.Email, true }, nil)
	city := secondaryindex.Inter("city", w.table("cities"), func(e *employee) (string, bool) { return e.City, true },
		&secondaryindex.Options[employee]{NonUnique: true, Only: []string{"Name"}})
	local := secondaryindex.Intra("local", func(e *employee) (string, bool) { return e.Name, true }, nil)
	name := indexentity.Intra("name", func(e *employee) (string, bool) { return e.Name, true }, nil)
	team := indexentity.Inter("team", w.table("people"), func(e *employee) (string, bool) { return e.City, true }, nil)
	tags := indexentity.InterBlob("tag", w.container("tags"), func(e *employee) (string, bool) { return e.City, true }, nil)
	department := func(e *employee) keys.Key { return keys.Key{Partition: e.Department, Row: "department"} }
	total := func(*employee) keys.Key { return keys.Key{Partition: "totals", Row: "people"} }
	type boss struct{ Boss string }
	views := []patterns.View[employee]{
		email, city, local, name, team, tags,
		denormalize.Intra("boss", denormalize.Into(func(e *employee) (keys.Key, boss, bool) { return department(e), boss{e.Name}, e.Manager }), nil),
		denormalize.Intra("count", denormalize.Count("Count", func(e *employee) (keys.Key, bool) { return department(e), true }), nil),
		denormalize.Inter("totals", w.table("people"), denormalize.Sum("Badges", func(e *employee) (keys.Key, int64, bool) { return total(e), int64(e.Badge), true }), nil),
	}
	store, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: views, Outbox: outbox, Follow: follow})
	w.must(err)
	w.must(store.Create(w.Context()))
	return &people{store, email.On(store), city.On(store), name.On(store), team.On(store), tags.On(store)}
}

func writeStore(w *world) {
	store := newPeople(w)
	for _, e := range []*employee{newEmployee("1", "jones", "Oslo"), newEmployee("2", "cao", "Oslo"), newEmployee("3", "beebe", "Rome")} {
		_, err := store.Insert(w.Context(), e)
		w.must(err)
	}
	_, err := store.Update(w.Context(), employeeKey("2"), func(e *employee) error { e.City = "Rome"; return nil })
	w.must(err)
	w.must(store.Delete(w.Context(), employeeKey("3")))
	w.must(store.SetViewState(w.Context(), "city", patterns.ViewReady))
}

func readStore(w *world) {
	store := newPeople(w)
	e, err := store.email.Get(w.Context(), "Sales", "jones@contoso.com")
	w.must(err)
	w.equal(e.Primary, employeeKey("1"))
	members, err := store.team.Get(w.Context(), "", "Rome")
	w.must(err)
	w.equal(members, []keys.Key{employeeKey("2")})
	members, err = store.tags.Get(w.Context(), "", "Oslo")
	w.must(err)
	w.equal(members, []keys.Key{employeeKey("1")})
	states, err := store.ViewStates(w.Context())
	w.must(err)
	for _, s := range states {
		if s.View == "city" {
			w.equal(s.State, patterns.ViewReady)
		}
	}
	w.verify(store.Store)

	// Each row is changed, and each is as it would be of entities that this version has stored.
	_, err = store.Update(w.Context(), employeeKey("1"), func(e *employee) error {
		e.City, e.Email, e.Name, e.Badge = "Paris", "jones@example.com", "smith", 9
		return nil
	})
	w.must(err)
	w.must(store.Delete(w.Context(), employeeKey("2")))
	_, err = store.Insert(w.Context(), newEmployee("4", "cao", "Rome"))
	w.must(err)
	w.verify(store.Store)
	w.equal(w.property("people", keys.Key{Partition: "totals", Row: "people"}, "Badges"), any("16"))
	w.equal(w.property("people", employeeKey("department"), "Count"), any("2"))
	w.equal(w.property("people", employeeKey("department"), "Boss"), any("smith"))
}

// verify fails if a derived row is missing, wrong or an orphan.
func (w *world) verify(store *patterns.Store[employee]) {
	w.Helper()
	for f, err := range reindex.Verify(w.Context(), store, "", nil) {
		w.must(err)
		w.Errorf("%s row of view %s at %v", f.Kind, f.View, f.Row)
	}
}

// newLookup returns a Store with an index of lookup rows, and its reader.
func newLookup(w *world) (*patterns.Store[employee], *secondaryindex.LookupReader[employee]) {
	w.Helper()
	table, err := patterns.NewTable[employee](w.table("people"), nil)
	w.must(err)
	tags := secondaryindex.Lookup("tag", w.table("tags"), func(e *employee) []string { return e.Tags }, nil)
	store, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{tags}})
	w.must(err)
	w.must(store.Create(w.Context()))
	return store, tags.On(store)
}

func writeLookup(w *world) {
	store, _ := newLookup(w)
	_, err := store.Insert(w.Context(), newEmployee("1", "jones", "Oslo"))
	w.must(err)
}

// An old row is found, changes with its entity, and is what the entity names.
func readLookup(w *world) {
	store, tags := newLookup(w)
	found := 0
	for item, err := range tags.Query(w.Context(), "Sales", secondaryindex.Equal("b"), nil) {
		w.must(err)
		w.equal(item.Key, employeeKey("1"))
		found++
	}
	w.equal(found, 1)
	for finding, err := range reindex.Verify(w.Context(), store, "", nil) {
		w.must(err)
		w.Errorf("finding %v", finding)
	}
	w.must(store.Delete(w.Context(), employeeKey("1")))
	for range tags.Keys(w.Context(), "Sales", secondaryindex.Values{}, nil) {
		w.Errorf("a row is left")
	}
}

func newExpiry(w *world) (*patterns.Store[employee], *expiry.Sweeper[employee]) {
	table, err := patterns.NewTable[employee](w.table("people"), nil)
	w.must(err)
	ends := expiry.At("ends", w.table("ends"), func(e *employee) time.Time { return e.Hired.AddDate(-20, 0, 0) }, nil) // before the test begins
	store, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{ends}})
	w.must(err)
	w.must(store.Create(w.Context()))
	return store, ends.On(store)
}

func writeExpiry(w *world) {
	store, _ := newExpiry(w)
	_, err := store.Insert(w.Context(), newEmployee("1", "jones", "Oslo"))
	w.must(err)
}

// An entity that an old row names is absent, and deleted with it.
func readExpiry(w *world) {
	store, sweeper := newExpiry(w)
	if _, err := store.Get(w.Context(), employeeKey("1")); !errors.Is(err, patterns.ErrNotFound) {
		w.Errorf("%v, want ErrNotFound", err)
	}
	time.Sleep(2 * time.Hour) // until the row is old enough
	report, err := sweeper.Sweep(w.Context(), nil)
	w.must(err)
	w.equal(report.Done, 1)
	w.equal(report.Lookups, 0)
	report, err = sweeper.Sweep(w.Context(), nil)
	w.must(err)
	w.equal(report.Found, 0)
}

func newJournal(w *world, content journal.Content) (*patterns.Store[employee], *journal.Changes[employee]) {
	table, err := patterns.NewTable[employee](w.table("people"), nil)
	w.must(err)
	changes := journal.Of("changes", &journal.Options[employee]{Content: content})
	store, err := patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{changes}})
	w.must(err)
	w.must(store.Create(w.Context()))
	return store, changes.On(store)
}

func writeJournal(w *world) {
	store, changes := newJournal(w, journal.BeforeAndAfter)
	item, err := store.Insert(w.Context(), newEmployee("1", "jones", "Oslo"))
	w.must(err)
	_, err = store.UpdateItem(w.Context(), item, func(e *employee) error { e.City = "Bergen"; return nil })
	w.must(err)
	_, err = store.Insert(w.Context(), newEmployee("2", "cao", "Oslo"))
	w.must(err)
	w.must(store.Delete(w.Context(), employeeKey("2")))
	time.Sleep(time.Hour)
	for range 2 { // the next epoch begins; then the deletion goes
		_, err = changes.Sweep(w.Context(), &patterns.SweepOptions{OlderThan: time.Minute})
		w.must(err)
	}
	store, _ = newJournal(w, journal.Changed)
	_, err = store.Update(w.Context(), employeeKey("1"), func(e *employee) error { e.Badge = 8; return nil })
	w.must(err)
}

// What was recorded is read, and versions go on.
func readJournal(w *world) {
	store, changes := newJournal(w, journal.BeforeAndAfter)
	_, err := store.Update(w.Context(), employeeKey("1"), func(e *employee) error { e.Name = "smith"; return nil })
	w.must(err)
	_, err = store.Insert(w.Context(), newEmployee("2", "cao", "Oslo"))
	w.must(err)
	var all []journal.Change[employee]
	for change, err := range changes.History(w.Context(), employeeKey("1"), nil) {
		w.must(err)
		all = append(all, change)
	}
	w.equal(len(all), 3)
	w.equal(string(all[0].Version), "0000000002-0000000002")
	w.equal(all[0].Before.Badge, int32(8))
	w.equal(string(all[1].Version), "0000000002-0000000001")
	w.equal(len(all[1].Changed), 1)
	w.equal(string(all[2].Version), "0000000001-0000000002")
	w.equal(all[2].After.City, "Bergen")
	w.equal(all[2].Before.City, "Oslo")
	w.equal(all[2].After.Hired, hired)
	page, err := changes.Page(w.Context(), employeeKey("2"), "", nil)
	w.must(err)
	w.equal(len(page.Changes), 1)
	w.equal(string(page.Changes[0].Version), "0000000002-0000000001")
}

// newFeed returns a store with a feed, and what delivers its messages and returns the changes.
func newFeed(w *world) (store *patterns.Store[employee], deliver func() (all []journal.Change[employee])) {
	feed, err := journal.NewFeed(w.queue("feeds"), "search", nil)
	w.must(err)
	table, err := patterns.NewTable[employee](w.table("people"), nil)
	w.must(err)
	view := journal.Of("changes", &journal.Options[employee]{Feeds: []*journal.Feed{feed}, FeedKeep: time.Hour})
	store, err = patterns.NewStore(table, &patterns.StoreOptions[employee]{Views: []patterns.View[employee]{view}})
	w.must(err)
	w.must(store.Create(w.Context()))
	return store, func() (all []journal.Change[employee]) {
		w.run("feeds", nil, func(worker *eventual.Worker) {
			view.On(store).Handle(worker, feed, func(_ context.Context, c journal.Change[employee]) error {
				all = append(all, c)
				return nil
			})
		})
		return all
	}
}

func writeFeed(w *world) {
	store, deliver := newFeed(w)
	_, err := store.Insert(w.Context(), newEmployee("1", "jones", "Oslo"))
	w.must(err)
	w.equal(len(deliver()), 1)
	_, err = store.Update(w.Context(), employeeKey("1"), func(e *employee) error { e.City = "Bergen"; return nil })
	w.must(err)
	w.must(store.Delete(w.Context(), employeeKey("1")))
}

// The changes after the position are delivered, and the feed goes on.
func readFeed(w *world) {
	store, deliver := newFeed(w)
	all := deliver()
	w.equal(len(all), 2)
	w.equal(string(all[0].Version), "0000000002-0000000001")
	w.equal(all[0].After.City, "Bergen")
	w.equal(all[1].Event, journal.Deleted)
	w.equal(all[1].Before.Hired, hired)
	_, err := store.Insert(w.Context(), newEmployee("1", "smith", "Oslo"))
	w.must(err)
	all = deliver()
	w.equal(len(all), 1)
	w.equal(all[0].After.Name, "smith")
}
