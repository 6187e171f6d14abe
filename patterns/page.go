package patterns

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/query"
)

// Page is a part of a query's result.
type Page[T any] struct {
	// Items may be empty although more pages follow.
	Items []Item[T]

	// Cursor is the position after this page, from which [Table.Page] continues, in
	// another process and at any later time too. It is opaque and safe in a URL. It is
	// valid for the same table, filter and selection only. It is "" if there are no more
	// pages.
	Cursor string
}

// Page reads one page of the rows that f matches, in key order: the first if cursor is
// "", otherwise the one after the page that returned cursor. The options must be the
// same for all pages of a result, except Limit, which is the largest number of rows in
// the page, PageSize and Parallel. A cursor that is damaged, or of another table or
// query, is [ErrBadCursor].
//
// Page makes one request, unless f names several exact keys: then one for each key that
// the page looks up, at most [QueryOptions.Parallel] of them concurrently. A cursor is a
// position, not a snapshot: rows inserted or deleted between two pages may or may not be
// returned.
func (t *Table[T]) Page(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) (Page[T], error) {
	return t.rows.page(ctx, f, cursor, opts)
}

func (r *rowReader[T]) page(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) (Page[T], error) {
	p, err := r.source.Plan(f, (*fetch.Options)(opts))
	if err != nil {
		return Page[T]{}, err
	}
	ctx, span := r.source.Begin(ctx, "page")
	defer span.End()
	rows, next, err := p.Page(ctx, &r.decoder, cursor)
	span.Fail(err)
	if err != nil || rows == nil {
		return Page[T]{}, err
	}
	return Page[T]{Items: rows.(*itemBuffer[T]).items, Cursor: next}, nil
}
