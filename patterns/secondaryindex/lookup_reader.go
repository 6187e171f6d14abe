package secondaryindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// LookupReader reads a [LookupIndex]. It is safe for concurrent use.
//
// An entity that does not change during a call, and has a value among those that are asked for, is returned exactly once. An
// entity that changes meanwhile may be returned not at all, once, or several times, and never in a
// version without such a value. With clients that also read the secondary region, as those of package
// regions, this holds for reads of the primary region.
//
// The parameter partition of its methods is the partition key of the primaries, as for [Reader].
type LookupReader[T any] struct {
	index *LookupIndex[T]
	store *patterns.Store[T]
	view  *view.View // of the store
	err   error      // of each call
}

// On returns the reader of ix in store. It makes no request. If ix is not one of the store's
// views, or is invalid, each call of the reader fails with [patterns.ErrBadView] before any
// request.
func (ix *LookupIndex[T]) On(store *patterns.Store[T]) *LookupReader[T] {
	if ix == nil {
		ix = Lookup[T]("", nil, nil, nil)
	}
	r := &LookupReader[T]{index: ix, store: store}
	if _, r.err = naming.Client(store, ix, ix.index.table); r.err == nil {
		r.view, r.err = store.Engine().Views.View(ix.Name())
	}
	return r
}

// Query returns the entities that have one of the values, ordered by the smallest of those and
// then by the key of the entity. They can be written back. Lookup rows and entities are read as the loop
// needs them. After an error the sequence ends. Each run of the sequence reads again.
//
// One request for each 1,000 rows of the values, and one for each entity, up to
// [patterns.QueryOptions.Parallel] concurrently. Limit counts entities. Select is refused. On Cosmos DB for
// Table, whose results have no order, Query fails with [patterns.ErrUnordered] except for [Equal].
func (r *LookupReader[T]) Query(ctx context.Context, partition string, values Values, opts *patterns.QueryOptions) iter.Seq2[patterns.Item[T], error] {
	return eachOf(ctx, r, "query", partition, values, opts, r.entities)
}

// eachOf returns what of returns for the rows of each page, up to the limit. of reads no more than left wants.
func eachOf[T, V any](ctx context.Context, r *LookupReader[T], op, partition string, values Values, opts *patterns.QueryOptions,
	of func(ctx context.Context, p lookupPlan, rows []outbox.LookupRow, left *int) iter.Seq2[V, error]) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		p, err := r.plan(partition, values, opts)
		left := p.Limit
		if p.Limit = 0; left > 0 && p.PageSize == 0 {
			p.PageSize = min(left, maxPage)
		}
		var rows []outbox.LookupRow
		for cursor, more := "", true; err == nil && more; more = cursor != "" {
			if rows, cursor, err = r.rows(ctx, &p, cursor); err != nil {
				break
			}
			for v, rerr := range of(ctx, p, rows, &left) {
				if err = rerr; err != nil {
					break
				}
				if left--; !yield(v, nil) || left == 0 {
					return
				}
			}
		}
		if err != nil {
			var none V
			yield(none, r.fail(op, err))
		}
	}
}

// Page reads one page of what [LookupReader.Query] returns: the first if cursor is "",
// otherwise the one after the page that returned cursor. PageSize limits the rows of values that it reads, and so
// does Limit. It fails with [patterns.ErrBadCursor] if the cursor is damaged or belongs to another query.
// One request, and one for each entity.
func (r *LookupReader[T]) Page(ctx context.Context, partition string, values Values, cursor string, opts *patterns.QueryOptions) (patterns.Page[T], error) {
	var page patterns.Page[T]
	p, err := r.plan(partition, values, opts)
	var rows []outbox.LookupRow
	var next string
	if err == nil {
		rows, next, err = r.rows(ctx, &p, cursor)
	}
	all := 0
	for item, rerr := range r.entities(ctx, p, rows, &all) {
		page.Items, err = append(page.Items, item), rerr
	}
	if err != nil {
		return patterns.Page[T]{}, r.fail("page", err)
	}
	page.Cursor = next
	return page, nil
}

// Pages returns the pages from cursor on, "" for the first, as [LookupReader.Page] returns them one
// after the other. After an error the sequence ends; the page of that pair has no items, but the
// Cursor with which the page can be read again.
func (r *LookupReader[T]) Pages(ctx context.Context, partition string, values Values, cursor string, opts *patterns.QueryOptions) iter.Seq2[patterns.Page[T], error] {
	return pages.Each(cursor, func(cursor string) (patterns.Page[T], error) {
		return r.Page(ctx, partition, values, cursor, opts)
	}, func(p *patterns.Page[T]) *string { return &p.Cursor })
}

// Keys returns the keys of the entities that may have one of the values, without reading the entities: a key may
// be that of an entity that no longer has the value, or does not exist, and be returned several
// times. One request for each 1,000 rows. Limit counts keys.
func (r *LookupReader[T]) Keys(ctx context.Context, partition string, values Values, opts *patterns.QueryOptions) iter.Seq2[keys.Key, error] {
	return eachOf(ctx, r, "keys", partition, values, opts, func(_ context.Context, _ lookupPlan, rows []outbox.LookupRow, _ *int) iter.Seq2[keys.Key, error] {
		return func(yield func(keys.Key, error) bool) {
			for i := 0; i < len(rows) && yield(rows[i].Primary, nil); i++ {
			}
		}
	})
}

// lookupPlan is how the rows of some values are read.
type lookupPlan struct {
	patterns.QueryOptions
	filter query.Filter
	rows   keys.Range
}

func (r *LookupReader[T]) plan(partition string, values Values, opts *patterns.QueryOptions) (p lookupPlan, err error) {
	if r.err != nil {
		return p, r.err
	}
	if opts != nil {
		p.QueryOptions = *opts
	}
	if p.Select != nil {
		return p, azerr.Errorf("%w: QueryOptions.Select: whole entities are read", azerr.ErrBadOption)
	}
	p.Ordered = p.Ordered || values.kind != equal
	if p.rows, err = values.rows(r.index.index.layout); err == nil {
		partition, err = r.index.index.partitionFor(partition, values)
	}
	p.filter = query.And(query.PartitionKey.Eq(partition), query.RowKey.Within(p.rows))
	return p, err
}

// rows reads a page of rows.
func (r *LookupReader[T]) rows(ctx context.Context, p *lookupPlan, cursor string) ([]outbox.LookupRow, string, error) {
	return r.store.Engine().LookupPage(ctx, r.view, p.filter, cursor, &p.QueryOptions)
}

// found is an entity, zero if there is none, and the keys of its rows in the index that it names.
type found[T any] struct {
	turn  chan struct{} // has a value while it is read; unlike for a mutex, testing/synctest advances the time meanwhile
	read  bool
	err   error
	item  patterns.Item[T]
	rows  []keys.Key
	known bool // an entity that has expired is not found, and may name rows
}

// maxRemoved is how many superfluous rows the reader of a page removes.
const maxRemoved = 10

// entities returns the entities of a page of rows, each of which is read once. An entity is returned for
// the smallest of its rows in the range only: the others may be on other pages. left is how many are wanted, 0 for all.
func (r *LookupReader[T]) entities(ctx context.Context, p lookupPlan, rows []outbox.LookupRow, left *int) iter.Seq2[patterns.Item[T], error] {
	of := map[keys.Key]*found[T]{}
	for _, row := range rows {
		if of[row.Primary] == nil {
			of[row.Primary] = &found[T]{turn: make(chan struct{}, 1)}
		}
	}
	window := calls.Window{Start: cmp.Or(p.Parallel, defaultParallel)}
	if window.Max = window.Start; *left > 0 {
		window.Start, window.Want = 1, func() int { return *left }
	}
	var removed atomic.Int32
	return func(yield func(patterns.Item[T], error) bool) {
		for f, err := range calls.Ordered(ctx, len(rows), window, func(ctx context.Context, i int) (found[T], error) {
			f, at := r.read(ctx, rows[i].Primary, of[rows[i].Primary]), rows[i].Row()
			named := slices.Contains(f.rows, at)
			smaller := func(row keys.Key) bool {
				return row.Partition == at.Partition && p.rows.Contains(row.Row) && keys.Compare(row.Row, at.Row) < 0
			}
			if f.err == nil && !named && r.index.clean && rows[i].Old && f.known && removed.Add(1) <= maxRemoved {
				r.store.Engine().RemoveLookups(ctx, rows[i:i+1], func(int, error) {}) // a row that stays has no effect
			}
			if !named || slices.ContainsFunc(f.rows, smaller) {
				f.rows = nil
			}
			return f, f.err
		}) {
			if (err != nil || f.rows != nil) && !yield(f.item, err) || err != nil {
				return
			}
		}
	}
}

// read reads an entity, unless that was done, and finds the rows that it names.
func (r *LookupReader[T]) read(ctx context.Context, primary keys.Key, f *found[T]) found[T] {
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	if f.read {
		return *f
	}
	f.read = true
	f.item, f.err = r.store.Get(ctx, primary)
	if errors.Is(f.err, patterns.ErrNotFound) {
		f.err = nil
		f.known = !r.store.Engine().Views.HasExpiring()
		return *f
	}
	if f.known = true; f.err != nil {
		return *f
	}
	named, _ := f.item.Property(view.PropLookups)
	text, _ := named.(string)
	var rows []view.Lookup
	rows, f.err = r.store.Engine().Views.Lookups(&f.item.Value, primary, text)
	for i := range rows {
		if rows[i].View == r.view && rows[i].ID != "" {
			f.rows = append(f.rows, rows[i].Row())
		}
	}
	return *f
}

// fail returns err with the operation and the name of the index.
func (r *LookupReader[T]) fail(op string, err error) error {
	return fmt.Errorf("%s: index %q: %w", op, r.index.Name(), err)
}
