package outbox

import (
	"context"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// together is some rows of a partition that are read together, if that is possible.
type together struct {
	names []string       // their row keys
	rows  []*fetch.Entry // in the same order, nil for a missing row

	// snapshot means that there was a moment at which all rows were as they were read, or did not fit as
	// the caller has found. Otherwise each was read after those that precede it.
	snapshot bool

	differed bool // the caller has read them since reading.since, and found that they do not fit
}

// reading is the requests that read sets of rows of a place.
//
// What one request returns is a snapshot of the partition. A row that an earlier and a later request
// returned with the same ETag was the same at the moment of each request between them, because no row
// has an ETag twice. So a set was as it was read if there was a request at which each of its rows was
// returned, found missing, or known in this way.
//
// So a set takes up to two requests for each page. If the caller has found that the rows do not fit, one is
// enough if a row has not changed since before the caller read any, as its Timestamp shows: it was the same
// when the others were read.
type reading struct {
	place
	since    time.Time // by the clock of the service; zero if nothing was found before
	open     []*together
	requests int
	seen     map[string][]sight // in the order of the requests
}

// maxSkew is more than the clocks of the servers of a service differ by.
const maxSkew = time.Minute

// sight is what a request has shown of a row key that it covered.
type sight struct {
	request int
	row     *fetch.Entry // nil for a missing row
}

// readTogether reads sets of rows of a place. It makes one request for each page of the range that
// contains all of them, and then one for each page of those that it has not read as they were at one
// moment. If the pages have fewer of the rows than filters have room for, or rows are changed meanwhile,
// it makes one request for each 7 pairs of what is left instead. A set that is too large for that is
// read row by row.
func (s *Store) readTogether(ctx context.Context, at place, sets []*together, since time.Time) (requests int, err error) {
	r := &reading{place: at, since: since, open: slices.Clone(sets), seen: map[string][]sight{}}
	if err := r.pages(ctx); err != nil {
		return r.requests, err
	}
	for _, some := range chunks(r.open) {
		names := namesOf(some)
		if _, err := r.read(ctx, names, anyOf(names)); err != nil {
			return r.requests, err
		}
	}
	for _, t := range r.open {
		t.rows = make([]*fetch.Entry, len(t.names))
		for i, name := range t.names {
			r.requests++
			for e, err := range fetch.Properties(ctx, at.table.Client, query.And(query.PartitionKey.Eq(at.partition), query.RowKey.Eq(name)), nil) {
				if err != nil {
					return r.requests, err
				}
				t.rows[i] = &e
			}
		}
	}
	return r.requests, nil
}

// pages reads the pages with the rows up to two times, as long as that takes fewer requests than filters.
func (r *reading) pages(ctx context.Context) error {
	for range 2 {
		covered, before := 0, r.requests
		for names := namesOf(r.open); len(names) > 0 && len(chunks(r.open)) > 1; {
			rest, err := r.read(ctx, names, query.And(query.RowKey.Ge(names[0]), query.RowKey.Le(names[len(names)-1])))
			if err != nil {
				return err
			}
			covered += len(names) - len(rest)
			if covered < (r.requests-before)*(query.MaxComparisons-1) {
				return nil
			}
			names = slices.DeleteFunc(namesOf(r.open), func(name string) bool { return len(rest) == 0 || keys.Compare(name, rest[0]) < 0 })
		}
	}
	return nil
}

// read makes a request. rest are those of names, which are in order, that the page does not cover.
func (r *reading) read(ctx context.Context, names []string, f query.Filter) (rest []string, err error) {
	r.requests++
	page, more, err := fetch.Snapshot(ctx, r.table.Client, query.And(query.PartitionKey.Eq(r.partition), f), r.only)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*fetch.Entry, len(page))
	for i := range page {
		found[page[i].Key.Row] = &page[i]
	}
	for len(names) > 0 && (!more || len(page) > 0 && keys.Compare(names[0], page[len(page)-1].Key.Row) <= 0) {
		r.seen[names[0]] = append(r.seen[names[0]], sight{r.requests, found[names[0]]})
		names = names[1:]
	}
	r.open = slices.DeleteFunc(r.open, r.take)
	return names, nil
}

// take fills in the rows of t if there was a request at which all of them are known, or one has not changed.
func (r *reading) take(t *together) bool {
	for _, name := range t.names {
		for _, at := range r.seen[name] {
			if t.rows, t.snapshot = r.rowsAt(t.names, at.request); t.snapshot {
				return true
			}
		}
	}
	return r.takeUnchanged(t)
}

// takeUnchanged fills in the rows of t as they were read last if one of them has not changed since r.since.
func (r *reading) takeUnchanged(t *together) bool {
	if !t.differed {
		return false
	}
	rows := make([]*fetch.Entry, len(t.names))
	for i, name := range t.names {
		n := len(r.seen[name])
		if n == 0 {
			return false
		}
		rows[i] = r.seen[name][n-1].row
		if rows[i] != nil && rows[i].Timestamp.Add(maxSkew).Before(r.since) {
			t.snapshot = true
		}
	}
	if t.snapshot {
		t.rows = rows
	}
	return t.snapshot
}

// rowsAt returns the rows as they were at the moment of a request, and whether all of them are known.
func (r *reading) rowsAt(names []string, request int) (rows []*fetch.Entry, known bool) {
	for _, name := range names {
		known = false
		var before *fetch.Entry
		for _, s := range r.seen[name] {
			if s.request < request {
				before = s.row
				continue
			}
			if known = s.request == request || before != nil && s.row != nil && s.row.ETag == before.ETag; known {
				rows = append(rows, s.row)
			}
			break
		}
		if !known {
			return nil, false
		}
	}
	return rows, true
}

// chunks divides sets so that a filter has room for the rows of each chunk.
func chunks(sets []*together) (all [][]*together) {
	for _, t := range sets {
		n := len(all)
		if n == 0 || len(namesOf(append(slices.Clip(all[n-1]), t))) >= query.MaxComparisons {
			all, n = append(all, nil), n+1
		}
		all[n-1] = append(all[n-1], t)
	}
	return all
}

// namesOf returns the row keys of all sets in order, each once.
func namesOf(sets []*together) (names []string) {
	for _, t := range sets {
		names = append(names, t.names...)
	}
	slices.SortFunc(names, keys.Compare)
	return slices.Compact(names)
}

func anyOf(rows []string) query.Filter {
	var each []query.Filter
	for _, row := range rows {
		each = append(each, query.RowKey.Eq(row))
	}
	return query.Or(each...)
}
