package patterns

import (
	"context"
	"iter"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/query"
)

// Page is a part of a query's result.
type Page[T any] struct {
	// Items may be empty although more pages follow.
	Items []Item[T]

	// Cursor is the position after this page, from which [Table.Page] continues, in
	// another process and at any later time too. It is opaque and safe in a URL. It is
	// valid for the same table, filter and selection only. It is "" if there are no more
	// pages. With an error of [Table.Pages] it is the position before the page that failed.
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

// Pages returns the pages from cursor on, "" for the first, as [Table.Page] returns them one after
// the other. Each pair is a page and nil, or an error, after which the sequence ends. The page of
// an error has no items, but the Cursor with which Page, or Pages, reads it again. So a loop that
// keeps the Cursor of each pair can read on after an error, without losing or repeating a row.
//
// Pages makes the requests of Page. Unlike [Table.Query] it requests no page before the loop needs
// it.
func (t *Table[T]) Pages(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[Page[T], error] {
	return t.rows.pages(ctx, f, cursor, opts)
}

func (r *rowReader[T]) pages(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[Page[T], error] {
	return pages.Each(cursor, func(cursor string) (Page[T], error) {
		return r.page(ctx, f, cursor, opts)
	}, func(p *Page[T]) *string { return &p.Cursor })
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
