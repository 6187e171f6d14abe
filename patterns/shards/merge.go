package shards

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/pages"
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
	Done    bool   // there are no more rows

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
	var at position[T, V]
	if !pages.OpenJSON(cursor, &at, r.shards.table, r.bounds()...) {
		return nil, patterns.ErrBadCursor
	}
	r.last = at.Last
	var err error
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
	rest := pages.After(r.filter, r.from)
	reads := query.Explain(rest).Reads()
	r.streams = r.streams[:0]
	for _, m := range r.d.members() {
		var own []query.Filter // that may match rows of the account
		for _, q := range reads {
			if !one(q) || r.d.reader(q.Partition.From) == m.Name {
				own = append(own, q.Filter)
			}
		}
		v, err := r.at.of(m.Name)
		switch {
		case len(own) == 0:
			continue
		case err != nil:
			return err
		}
		s := stream[T, V]{Account: m.Name, filter: rest, rowsOf: v}
		if len(own) < len(reads) {
			s.filter = query.Or(own...)
		}
		r.streams = append(r.streams, s)
	}
	return nil
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
	s.advance()
}

// advance goes on to the next page if all rows have been taken.
func (s *stream[T, V]) advance() {
	if len(s.rows) == 0 {
		s.Cursor, s.Done = s.next, s.next == ""
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
	return !slices.ContainsFunc(r.streams, func(s stream[T, V]) bool { return !s.Done })
}

const maxPage = 1000

// pages returns the pages from cursor on.
func (t *sharded[T, V]) pages(ctx context.Context, f query.Filter, cursor string, opts patterns.QueryOptions) iter.Seq2[patterns.Page[T], error] {
	size := min(cmp.Or(opts.PageSize, maxPage), cmp.Or(opts.Limit, maxPage))
	return func(yield func(patterns.Page[T], error) bool) {
		ctx := regions.Strict(ctx) // tokens are those of one region
		r, err := t.open(ctx, f, cursor, opts)
		for err == nil && !r.done() {
			if err = r.fill(ctx); err != nil {
				break
			}
			var page patterns.Page[T]
			for item, ok := r.next(); ok; item, ok = r.next() {
				if page.Items = append(page.Items, item); len(page.Items) == size {
					break
				}
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
