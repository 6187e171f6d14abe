package shards

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/query"
)

// merge is a read in progress. Every page in it was read while version d of the directory was
// leased. If another version takes its place, the read begins again after the last row.
type merge[T any, V accessor[T, V]] struct {
	*sharded[T, V]
	filter query.Filter
	opts   patterns.QueryOptions // of the accounts

	d       *seen
	from    *keys.Key // the streams have the rows after it
	last    *keys.Key // the last row returned
	streams []stream[T, V]
}

// stream is the rows of one account. Those that the account does not own are left out: they are
// of a partition that has moved, or arrived late.
type stream[T any, V accessor[T, V]] struct {
	Account string
	Cursor  string // of the page that contains rows, or of the next page if there are none
	Done    bool   // there is no page after rows

	next   string // of the page after rows
	rows   []patterns.Item[T]
	filter query.Filter
	rowsOf V
}

// open prepares a read, from the position of cursor on.
func (t *sharded[T, V]) open(ctx context.Context, f query.Filter, cursor string, opts patterns.QueryOptions) (*merge[T, V], error) {
	r := &merge[T, V]{sharded: t, filter: f, opts: opts}
	if _, err := t.any.Explain(f, &opts); err != nil {
		return nil, err
	}
	r.opts.Allow = query.TableScan // the part after a row may have no upper bound
	at, err := r.position(cursor)
	if err != nil {
		return nil, err
	}
	r.last = at.Last
	if r.d, err = t.shards.readable(ctx, r.frozen); err != nil {
		return nil, err
	}
	if at.Version != r.d.Version {
		at.From, at.Streams = at.Last, nil
	}
	r.from = at.From
	if err := r.restart(); err != nil {
		return nil, err
	}
	for _, was := range at.Streams {
		for i := range r.streams {
			if s := &r.streams[i]; s.Account == was.Account {
				s.Cursor, s.Done = was.Cursor, was.Done
			}
		}
	}
	return r, nil
}

// restart opens the streams for the rows after r.from.
func (r *merge[T, V]) restart() error {
	rest := r.filter
	if r.from != nil {
		rest = query.And(rest, query.Or(query.PartitionKey.Gt(r.from.Partition),
			query.And(query.PartitionKey.Eq(r.from.Partition), query.RowKey.Gt(r.from.Row))))
	}
	reads := query.Explain(rest).Reads()
	r.streams = r.streams[:0]
	for _, m := range r.d.members() {
		name, filter := m.Name, rest
		if own := slices.DeleteFunc(slices.Clone(reads), func(q query.Read) bool { return !r.concerns(q, name) }); len(own) == 0 {
			continue
		} else if len(own) < len(reads) {
			var filters []query.Filter
			for _, q := range own {
				filters = append(filters, q.Filter)
			}
			filter = query.Or(filters...)
		}
		v, err := r.at.of(name)
		if err != nil {
			return err
		}
		r.streams = append(r.streams, stream[T, V]{Account: name, filter: filter, rowsOf: v})
	}
	return nil
}

// concerns reports whether the account may own rows of q.
func (r *merge[T, V]) concerns(q query.Read, account string) bool {
	return !one(q) || r.d.reader(q.Partition.From) == account
}

// one reports whether q reads one partition.
func one(q query.Read) bool { return q.Partition.To == q.Partition.From+"\x00" }

// frozen reports whether the rest of the read may concern partitions of the step of d.
func (r *merge[T, V]) frozen(d *seen) bool {
	if d.Move == nil || d.Move.Open.compare(d.Move.Frozen) == 0 || r.last != nil && slices.MaxFunc([]bound{d.Move.Open, d.Move.Frozen}, bound.compare).compare(after(r.last.Partition)) < 0 {
		return false
	}
	return slices.ContainsFunc(query.Explain(r.filter).Reads(), func(q query.Read) bool {
		return !one(q) || d.frozen(q.Partition.From)
	})
}

// fill reads a page of each stream that has no rows, and returns when the directory has not
// changed meanwhile.
func (r *merge[T, V]) fill(ctx context.Context) error {
	for {
		var empty []*stream[T, V]
		for i := range r.streams {
			if s := &r.streams[i]; len(s.rows) == 0 && !s.Done {
				empty = append(empty, s)
			}
		}
		opts, parallel := r.opts, max(min(cmp.Or(r.opts.Parallel, defaultParallel), len(empty)), 1)
		opts.Parallel = max(cmp.Or(opts.Parallel, defaultParallel)/parallel, 1) // of the exact keys of one account
		err := calls.Each(ctx, len(empty), parallel, func(ctx context.Context, i int) error {
			s := empty[i]
			page, err := s.rowsOf.Page(ctx, s.filter, s.Cursor, &opts)
			s.rows, s.next = page.Items, page.Cursor
			return err
		})
		now, failed := r.shards.confirm(ctx, r.d, r.frozen(r.d))
		if failed != nil {
			return failed
		}
		if now.Version == r.d.Version {
			r.d = now
			for _, s := range empty {
				r.keep(s)
			}
			return err
		}
		r.from = r.last
		if r.d, err = r.shards.readable(ctx, r.frozen); err == nil {
			err = r.restart()
		}
		if err != nil {
			return err
		}
	}
}

// keep removes the rows of s that the account does not own, and those up to the last row.
func (r *merge[T, V]) keep(s *stream[T, V]) {
	s.rows = slices.DeleteFunc(s.rows, func(i patterns.Item[T]) bool {
		return i.Key.Row == markerRow || r.last != nil && i.Key.Compare(*r.last) <= 0 || r.d.reader(i.Key.Partition) != s.Account
	})
	s.Done = s.next == ""
	s.advance()
}

// advance goes on to the next page if all rows have been taken.
func (s *stream[T, V]) advance() {
	if len(s.rows) == 0 {
		s.Cursor = s.next
	}
}

// next returns the next row in key order. ok is false if a page has to be read first, or if
// there are no more rows.
func (r *merge[T, V]) next() (item patterns.Item[T], ok bool) {
	var least *stream[T, V]
	for i := range r.streams {
		s := &r.streams[i]
		switch {
		case len(s.rows) == 0 && !s.Done:
			return item, false
		case len(s.rows) > 0 && (least == nil || s.rows[0].Key.Compare(least.rows[0].Key) < 0):
			least = s
		}
	}
	if least == nil {
		return item, false
	}
	item, least.rows = least.rows[0], least.rows[1:]
	least.advance()
	r.last = &item.Key
	return item, true
}

// done reports whether all rows have been returned.
func (r *merge[T, V]) done() bool {
	return !slices.ContainsFunc(r.streams, func(s stream[T, V]) bool { return !s.Done || len(s.rows) > 0 })
}

// step reads what is needed for at least one row, if the accounts return any, and returns up
// to limit rows.
func (r *merge[T, V]) step(ctx context.Context, limit int) ([]patterns.Item[T], error) {
	if err := r.fill(ctx); err != nil {
		return nil, err
	}
	var items []patterns.Item[T]
	for len(items) < limit {
		item, ok := r.next()
		if !ok {
			break
		}
		items = append(items, item)
	}
	return items, nil
}

const maxPage = 1000

// pages returns the pages from cursor on.
func (t *sharded[T, V]) pages(ctx context.Context, f query.Filter, cursor string, opts patterns.QueryOptions) iter.Seq2[patterns.Page[T], error] {
	size := min(cmp.Or(opts.PageSize, maxPage), cmp.Or(opts.Limit, maxPage))
	return func(yield func(patterns.Page[T], error) bool) {
		ctx := regions.Strict(ctx) // tokens are those of one region
		r, err := t.open(ctx, f, cursor, opts)
		for err == nil && !r.done() {
			var page patterns.Page[T]
			if page.Items, err = r.step(ctx, size); err != nil {
				break
			}
			if !r.done() {
				page.Cursor, err = r.cursor()
			}
			if err == nil && !yield(page, nil) {
				return
			}
		}
		if err != nil {
			yield(patterns.Page[T]{}, err)
		}
	}
}
