package patterns

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/query"
)

// maxPage is the most rows that the service puts in one answer.
//
// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
const maxPage = 1000

// Page is a part of a query's result.
type Page[T any] struct {
	// Items may be empty although more follow.
	Items []Item[T]

	// Cursor gets the next page, also in another process and much later. It is
	// opaque, safe in a URL, and tied to table, filter and selection. It is "" when
	// there are no more pages.
	Cursor string
}

// Page reads the part of f's result that cursor stands for; "" is the first. Items
// come in key order. The same options must be given each time; only Limit, the
// most rows in the page, and PageSize may differ. A cursor that is damaged, or of
// another table or query, gives [ErrBadCursor].
//
// One request, except where f names several exact keys: then one for each that is
// looked up, at most [QueryOptions.Parallel] at a time. A cursor marks a position,
// not a snapshot: rows inserted or deleted between two pages may be seen or not.
func (t *Table[T]) Page(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) (Page[T], error) {
	return t.rows.page(ctx, f, cursor, opts)
}

func (r *rows[T]) page(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) (Page[T], error) {
	q, err := r.plan(f, opts)
	if err != nil {
		return Page[T]{}, err
	}
	pos, err := q.resume(cursor)
	if err != nil {
		return Page[T]{}, err
	}
	size := q.pageSize()
	if q.limit > 0 {
		size = min(size, q.limit)
	}
	if pos.read >= len(q.reads) {
		return Page[T]{}, ctx.Err()
	}
	if err := q.check(); err != nil {
		return Page[T]{}, err
	}
	items, next, err := q.fetch(ctx, pos, size)
	if cerr := q.check(); cerr != nil {
		err = cerr // what came is of another table
	}
	if err != nil {
		return Page[T]{}, err
	}
	page := Page[T]{Items: items}
	if next.read < len(q.reads) {
		page.Cursor, err = q.cursor(next)
	}
	return page, err
}

// position is where a plan goes on: at which read, and where within it.
type position struct {
	read  int
	token wire.Position
}

// fetch does the plan's next step: one page of a range read, or up to size
// neighbouring point reads at once. It gives the rows and where the plan goes on.
func (q *plan[T]) fetch(ctx context.Context, pos position, size int) ([]Item[T], position, error) {
	if !q.reads[pos.read].Point {
		items, token, err := q.readPage(ctx, q.reads[pos.read].Filter, pos.token, size)
		if token == (wire.Position{}) {
			pos.read++
		}
		return items, position{pos.read, token}, err
	}
	end := pos.read
	for end < len(q.reads) && end-pos.read < size && q.reads[end].Point {
		end++
	}
	items := make([]Item[T], 0, end-pos.read)
	window := parallel.Window{Start: q.parallel, Max: q.parallel}
	for found, err := range parallel.Ordered(ctx, end-pos.read, window, func(ctx context.Context, i int) ([]Item[T], error) {
		return q.look(ctx, pos.read+i)
	}) {
		if err != nil {
			return nil, pos, err
		}
		items = append(items, found...)
	}
	return items, position{read: end}, nil
}

// readPage reads one page of a range, size rows at most.
func (q *plan[T]) readPage(ctx context.Context, f query.Filter, token wire.Position, size int) ([]Item[T], wire.Position, error) {
	var items []Item[T]
	top := q.top(size)
	next, err := q.rows.wire.Query(ctx, wire.Query{
		Filter: f.String(),
		Select: q.selectList,
		Top:    top,
		Next:   token,
	}, func(body []byte) (err error) {
		items, err = q.decode(body, size)
		return err
	})
	if err != nil {
		return nil, wire.Position{}, err
	}
	if top != 0 && len(items) > int(top) {
		return nil, wire.Position{}, fmt.Errorf("query: %w: more rows than asked for", ErrBadReply)
	}
	return items, next, nil
}

// top is the page size to ask for. 0 leaves it to the service, where the caller
// did: that is 1000, but for Cosmos DB, which is free to send more.
func (q *plan[T]) top(size int) int32 {
	if size == maxPage && q.size == 0 && q.limit == 0 {
		return 0
	}
	return int32(size)
}

// decode reads a page's rows.
func (q *plan[T]) decode(body []byte, size int) ([]Item[T], error) {
	r := q.rows
	items := r.slab(size)
	var meta edm.Meta
	var rest edm.Unknown
	done := func() {
		if n := len(items); n > 0 {
			r.finish(&items[n-1], &meta, &rest, q.selected)
			meta, rest = edm.Meta{}, edm.Unknown{}
		}
	}
	err := r.codec.DecodePage(body, func() (any, *edm.Meta, *edm.Unknown) {
		done()
		items = append(items, Item[T]{})
		return &items[len(items)-1].Value, &meta, &rest
	})
	if err != nil {
		return nil, err
	}
	done()
	r.seen.Store(int64(len(items)))
	return items, nil
}
