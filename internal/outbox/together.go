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

	// snapshot means that there was a moment at which all rows were as they were read. Otherwise
	// each was read after those that precede it.
	snapshot bool
}

// maxSkew is more than the clocks of the servers of a service differ by. A row whose Timestamp is
// older than a request, by this much, has not changed since the request was sent.
const maxSkew = time.Minute

// reading is the requests that read sets of rows of a place.
//
// What one request returns is a snapshot of the partition. What several return is one as well, of
// the moment of the first, if each row that a later one returned has not changed since the first:
// then it was the same at that moment. Its Timestamp shows that. A row that a later one found missing
// may have been deleted since, so the rows of such a set that were read first are read once more.
// If these have not changed, they existed while it was missing.
//
// This needs no other knowledge of the rows: not when, in which order, or by whom they were scanned.
type reading struct {
	place
	open []*together
	sent []time.Time // of each request, by the clock of the service
	seen map[string]sight
}

// sight is what the latest request that covered a row key has shown.
type sight struct {
	row     *fetch.Entry // nil for a missing row
	request int
}

// readTogether reads sets of rows of a place. It makes one request for each page of the range that
// contains all of them, and then for each page of the rows that are to be read once more. If the pages
// have fewer of the rows than filters have room for, or more sets were changed lately than were not,
// it makes one request for each 7 pairs of what is left instead. A set that is too large for that is
// read row by row.
func (s *Store) readTogether(ctx context.Context, at place, sets []*together) (requests int, err error) {
	r := &reading{place: at, open: slices.Clone(sets), seen: map[string]sight{}}
	if err := r.pages(ctx); err != nil {
		return len(r.sent), err
	}
	for _, some := range chunks(r.open) {
		names := namesOf(some)
		if _, err := r.read(ctx, names, anyOf(names)); err != nil {
			return len(r.sent), err
		}
	}
	requests = len(r.sent)
	for _, t := range r.open {
		t.rows = make([]*fetch.Entry, len(t.names))
		for i, name := range t.names {
			requests++
			for e, err := range fetch.Properties(ctx, at.table.Client, query.And(query.PartitionKey.Eq(at.partition), query.RowKey.Eq(name)), nil) {
				if err != nil {
					return requests, err
				}
				t.rows[i] = &e
			}
		}
	}
	return requests, nil
}

// pages reads ranges of rows, as long as that takes fewer requests than filters.
func (r *reading) pages(ctx context.Context) error {
	all, covered := len(r.open), 0
	for rest, again := namesOf(r.open), false; len(rest) > 1; {
		names := rest
		var err error
		if rest, err = r.read(ctx, names, query.And(query.RowKey.Ge(names[0]), query.RowKey.Le(names[len(names)-1]))); err != nil {
			return err
		}
		covered += len(names) - len(rest)
		if covered < len(r.sent)*(query.MaxComparisons-1) || r.changed() > all-len(r.open) {
			return nil
		}
		if len(rest) == 0 && !again {
			rest, again = r.first(), true
		}
	}
	return nil
}

// read makes a request. rest are those of names, which are in order, that the page does not cover.
func (r *reading) read(ctx context.Context, names []string, f query.Filter) (rest []string, err error) {
	now, _ := r.table.Client.ServiceTime() // if it is unknown, each row may have changed since
	r.sent = append(r.sent, now)
	page, more, err := fetch.Snapshot(ctx, r.table.Client, query.And(query.PartitionKey.Eq(r.partition), f))
	if err != nil {
		return nil, err
	}
	found := make(map[string]*fetch.Entry, len(page))
	for i := range page {
		found[page[i].Key.Row] = &page[i]
	}
	for len(names) > 0 && (!more || len(page) > 0 && keys.Compare(names[0], page[len(page)-1].Key.Row) <= 0) {
		r.seen[names[0]] = sight{found[names[0]], len(r.sent) - 1}
		names = names[1:]
	}
	r.open = slices.DeleteFunc(r.open, r.take)
	return names, nil
}

// take fills in the rows of t if they were seen, and as they were at one moment.
func (r *reading) take(t *together) bool {
	t.rows = make([]*fetch.Entry, len(t.names))
	first := r.firstOf(t)
	if first < 0 {
		return false
	}
	for i, name := range t.names {
		at := r.seen[name]
		if at.request > first && (at.row == nil || !at.row.Timestamp.Add(maxSkew).Before(r.sent[first])) {
			return false
		}
		t.rows[i] = at.row
	}
	t.snapshot = true
	return true
}

// firstOf returns the first request that has shown a row of t, -1 if some were not seen.
func (r *reading) firstOf(t *together) int {
	first := len(r.sent)
	for _, name := range t.names {
		at, ok := r.seen[name]
		if !ok {
			return -1
		}
		first = min(first, at.request)
	}
	return first
}

// first returns the row keys that were seen first of each set, in order, if another one was missing.
func (r *reading) first() (names []string) {
	for _, t := range r.open {
		first := r.firstOf(t)
		for _, name := range t.names {
			if r.seen[name].request == first && r.seen[name].row != nil {
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, keys.Compare)
	return slices.Compact(names)
}

// changed returns the number of sets of which all rows exist that were seen, and one has changed
// lately.
func (r *reading) changed() (n int) {
	for _, t := range r.open {
		if r.firstOf(t) >= 0 && !slices.ContainsFunc(t.names, func(name string) bool { return r.seen[name].row == nil }) {
			n++
		}
	}
	return n
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
