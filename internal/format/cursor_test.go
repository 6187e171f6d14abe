package format_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

var cursorGroups = []group{
	{name: "cursor", write: writeCursors, read: readCursors},
	{name: "cursor-delete", write: writeDelete, read: readDelete},
	{name: "cursor-sweep", write: writeSweeps, read: readSweeps},
}

// A reader returns the next rows behind a cursor, and the cursor behind them.
type reader struct {
	name string
	page func(w *world, cursor string) (rows []string, next string)
	rest string // behind the first page
}

var two = &patterns.QueryOptions{Limit: 2}

// entities are those of a table that also has rows of views.
var entities = query.And(partition("Sales"), query.RowKey.Ge("0"), query.RowKey.Lt("a"))

var readers = []reader{
	{"page", func(w *world, cursor string) ([]string, string) {
		table, err := patterns.NewTable[employee](w.table("people"), nil)
		w.must(err)
		p, err := table.Page(w.Context(), entities, cursor, two)
		w.must(err)
		return ids(p.Items), p.Cursor
	}, "[3 4 5]"},
	{"page of exact keys", func(w *world, cursor string) ([]string, string) {
		table, err := patterns.NewTable[employee](w.table("people"), nil)
		w.must(err)
		f := query.And(partition("Sales"), query.RowKey.In("1", "2", "4", "5"))
		p, err := table.Page(w.Context(), f, cursor, two)
		w.must(err)
		return ids(p.Items), p.Cursor
	}, "[4 5]"},
	{"scan", func(w *world, cursor string) ([]string, string) {
		table, err := patterns.NewTable[employee](w.table("people"), nil)
		w.must(err)
		w.must(w.Fault(shortPages(2)))
		defer w.ClearFaults()
		for p, err := range table.Scan(w.Context(), entities, cursor, &patterns.QueryOptions{Parallel: 1, Allow: query.TableScan}) {
			w.must(err)
			return ids(p.Items), p.Cursor
		}
		return nil, ""
	}, "[3 4 5]"},
	{"secondary index", func(w *world, cursor string) ([]string, string) {
		p, err := newPeople(w).city.Page(w.Context(), "Sales", secondaryindex.Equal("Oslo"), cursor, two)
		w.must(err)
		var found []string
		for _, e := range p.Entries {
			found = append(found, e.Primary.Row)
		}
		return found, p.Cursor
	}, "[3 4 5]"},
	{"index entity", func(w *world, cursor string) ([]string, string) {
		p, err := newPeople(w).team.Page(w.Context(), "", "Oslo", cursor, two)
		w.must(err)
		return ids(p.Items), p.Cursor
	}, "[3 4 5]"},
	{"regions page", func(w *world, cursor string) ([]string, string) {
		p, err := w.regions().Page(w.Context(), entities, cursor, two)
		w.must(err)
		var found []string
		for _, item := range p.Items {
			found = append(found, item.Value.ID)
		}
		return found, p.Cursor
	}, "[3 4 5]"},
	{"compound key", func(w *world, cursor string) ([]string, string) {
		p, err := w.family().Page(w.Context(), parent, compoundkey.Span{}, cursor, two)
		w.must(err)
		var found []string
		for _, item := range p.Items {
			found = append(found, item.Value.Year)
		}
		return found, p.Cursor
	}, "[2013 2014]"},
	{"entity type", func(w *world, cursor string) ([]string, string) {
		p, err := w.types().Page(w.Context(), partition("Sales"), cursor, two)
		w.must(err)
		var found []string
		for _, e := range p.Items {
			found = append(found, e.Key.Row)
		}
		return found, p.Cursor
	}, "[3 4 5]"},
	{"log tail", func(w *world, cursor string) ([]string, string) {
		p, err := w.tail(1).Page(w.Context(), "000123", time.Time{}, time.Time{}, cursor, two)
		w.must(err)
		var found []string
		for _, e := range p.Entries {
			found = append(found, e.Value.What)
		}
		return found, p.Cursor
	}, "[2 1 0]"},
	{"periods", func(w *world, cursor string) ([]string, string) {
		p, err := w.periods().Page(w.Context(), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2000, 6, 1, 0, 0, 0, 0, time.UTC),
			partition("p"), cursor, &highvolumedelete.QueryOptions{QueryOptions: *two})
		w.must(err)
		var found []string
		for _, item := range p.Items {
			found = append(found, item.Value.What)
		}
		return found, p.Cursor
	}, "[2 3 4]"},
	{"shards page", func(w *world, cursor string) ([]string, string) {
		p, err := w.sharded().Page(w.Context(), query.And(query.PartitionKey.Ge("p1"), query.PartitionKey.Lt("p6")), cursor, &patterns.QueryOptions{Limit: 2, Allow: query.TableScan})
		w.must(err)
		var found []string
		for _, item := range p.Items {
			found = append(found, item.Key.Partition)
		}
		return found, p.Cursor
	}, "[p3 p4 p5]"},
	{"log entry", func(w *world, cursor string) (found []string, next string) {
		for _, e := range w.logEntries(logdata.JSON, cursor) {
			if found = append(found, e.Time.Format("04")); len(found) <= 2 {
				next = e.Cursor()
			}
		}
		if len(found) < 3 {
			next = ""
		}
		return found, next
	}, "[02]"},
}

func (w *world) sharded() *shards.Table[document] {
	w.Helper()
	s, _ := w.shards(2)
	table, err := shards.NewTable[document](s, nil)
	w.must(err)
	return table
}

func (w *world) regions() *regions.Table[employee] {
	w.Helper()
	var pair regions.Pair
	service := w.attached(pair.Attach)
	pair.Use(service)
	rows, err := patterns.NewTable[employee](service.NewClient("people"), nil)
	w.must(err)
	table, err := regions.NewTable(rows, nil)
	w.must(err)
	return table
}

func ids(items []patterns.Item[employee]) (all []string) {
	for _, item := range items {
		all = append(all, item.Key.Row)
	}
	return all
}

func writeCursors(w *world) {
	w.Replicate(time.Minute)
	store := newPeople(w)
	s, _ := w.shards(2)
	w.must(s.Create(w.Context()))
	_, err := w.family().Insert(w.Context(), &worker{"Sales", "00/123", "Ken"},
		&review{"Sales", "00/123", "2011", 1}, &review{"Sales", "00/123", "2012", 2}, &review{"Sales", "00/123", "2013", 3}, &review{"Sales", "00/123", "2014", 3})
	w.must(err)
	for i := range 5 {
		id := fmt.Sprint(i + 1)
		_, err := store.Insert(w.Context(), newEmployee(id, "name"+id, "Oslo"))
		w.must(err)
		_, err = w.types().Insert(w.Context(), employeeKey(id), &fullName{"Ann", "Beebe"})
		w.must(err)
		_, err = w.tail(1).Append(w.Context(), "000123", &expense{fmt.Sprint(i), noon.Add(time.Duration(i) * time.Hour)})
		w.must(err)
		_, err = w.periods().Insert(w.Context(), &expense{fmt.Sprint(i), time.Date(2000, time.Month(1+i), 3, 0, 0, 0, 0, time.UTC)})
		w.must(err)
		_, err = w.sharded().Insert(w.Context(), &document{fmt.Sprint("p", id), "r", i})
		w.must(err)
	}
	writeLog(w)
	for _, r := range readers {
		_, cursor := r.page(w, "")
		w.texts[r.name] = cursor
	}
	p, err := w.tailUntil("")
	w.must(err)
	w.texts["log tail with an end"] = p.Cursor
}

// tailUntil reads a range with an end. The end belonged to the range in version 1, whose cursor is refused: what is
// behind it has another meaning.
func (w *world) tailUntil(cursor string) (logtail.Page[expense], error) {
	w.Helper()
	return w.tail(1).Page(w.Context(), "000123", noon, noon.Add(24*time.Hour), cursor, two)
}

func readCursors(w *world) {
	w.Replicate(time.Minute)
	if p, err := w.tailUntil(w.texts["log tail with an end"]); !errors.Is(err, patterns.ErrBadCursor) {
		w.must(err)
		w.equal(p.Entries[0].Value.What, "2")
	}
	for _, r := range readers {
		var found []string
		for cursor := w.texts[r.name]; cursor != ""; {
			var rows []string
			rows, cursor = r.page(w, cursor)
			found = append(found, rows...)
		}
		if fmt.Sprint(found) != r.rest {
			w.Errorf("%s: behind the cursor are %v, want %s", r.name, found, r.rest)
		}
	}
}

// delete deletes the documents of all partitions, and returns the cursor.
func (w *world) delete(cursor string) (string, error) {
	w.Helper()
	table, err := patterns.NewTable[document](w.table("docs"), nil)
	w.must(err)
	all := query.And(query.PartitionKey.Ge("p0"), query.PartitionKey.Lt("p9"))
	p, err := table.DeleteWhere(w.Context(), all, cursor, &patterns.DeleteOptions{QueryOptions: patterns.QueryOptions{Allow: query.TableScan}})
	return p.Cursor, err
}

func (w *world) insertDocuments() {
	w.Helper()
	table, err := patterns.NewTable[document](w.table("docs"), nil)
	w.must(err)
	for i := range 6 {
		_, err := table.Upsert(w.Context(), &document{fmt.Sprint("p", i), "r", i}, patterns.Replace)
		w.must(err)
	}
}

func writeDelete(w *world) {
	w.insertDocuments()
	w.must(w.Fault(shortPages(2), storagetest.On("Table.Query").Nth(3).Times(storagetest.Forever).Status(403, "AuthorizationFailure")))
	cursor, err := w.delete("")
	if err == nil {
		w.Error("nothing is left to delete")
	}
	w.ClearFaults()
	w.texts["delete"] = cursor
	w.insertDocuments()
}

// What is behind the cursor is deleted. What was inserted before it since stays.
func readDelete(w *world) {
	_, err := w.delete(w.texts["delete"])
	w.must(err)
	var left []string
	for _, row := range w.record().Tables["docs"] {
		left = append(left, row["PartitionKey"].(string))
	}
	w.equal(fmt.Sprint(left) == "[p0 p1]" || fmt.Sprint(left) == "[p0 p1 p2]", true)
}

// sweepers return the cursor behind the first step, or behind the step at a cursor.
var sweepers = map[string]func(w *world, opts *patterns.SweepOptions) (patterns.SweepReport, error){
	"store": func(w *world, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
		return newPeople(w).Sweep(w.Context(), opts)
	},
	"wide": func(w *world, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
		return w.wide(&wideentity.Options[properties]{Parts: 3}).Sweep(w.Context(), opts)
	},
	"large": func(w *world, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
		return w.candidates(largeentity.Options[candidate]{}).Sweep(w.Context(), opts)
	},
	"claims": func(w *world, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
		claims, err := eventual.NewClaims(w.container("payloads"), nil)
		w.must(err)
		return claims.Sweep(w.Context(), opts)
	},
}

func writeSweeps(w *world) {
	people := newPeople(w)
	for i := range 3 {
		_, err := people.Insert(w.Context(), newEmployee(fmt.Sprint(i), fmt.Sprint("name", i), "Oslo"))
		w.must(err)
		year := days(fmt.Sprint(i))
		_, err = w.wide(&wideentity.Options[properties]{Parts: 3}).Insert(w.Context(), &year)
		w.must(err)
		_, err = w.candidates(largeentity.Options[candidate]{}).Insert(w.Context(), newCandidate(fmt.Sprint(i)))
		w.must(err)
		w.enqueue("jobs", "letter.send", longLetter(), &eventual.EnqueueOptions{Container: w.container("payloads")})
	}
	w.must(w.Fault(shortPages(2), shortLists(2), storagetest.On("*").Delay(time.Second).Times(storagetest.Forever)))
	for name, sweep := range sweepers {
		r, err := sweep(w, &patterns.SweepOptions{Deadline: 1})
		w.must(err)
		w.texts[name] = r.Cursor
	}
	w.ClearFaults()
}

func readSweeps(w *world) {
	for name, sweep := range sweepers {
		w.equal(w.texts[name] != "", true)
		whole, err := sweep(w, &patterns.SweepOptions{DryRun: true})
		w.must(err)
		rest, err := sweep(w, &patterns.SweepOptions{DryRun: true, Cursor: w.texts[name]})
		w.must(err)
		if rest.Found > whole.Found {
			w.Errorf("%s: the rest of the sweep makes %d requests and finds %d, the whole %d and %d", name, rest.Requests, rest.Found, whole.Requests, whole.Found)
		}
	}
}
