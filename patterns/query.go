package patterns

import (
	"context"
	"iter"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/records"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// QueryOptions are the options of every read of several rows: of a [Table], a [Store] and a
// [Reader], and of the packages that read through them. nil and the zero value mean the defaults.
// Package types documents the fields.
type QueryOptions = types.QueryOptions

// Get reads the row at key. If it does not exist, the error matches [ErrNotFound]. One
// request, the cheapest of all reads.
func (t *Table[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	return getItem[T](ctx, t.rows, key)
}

// Query returns the rows that f matches, in key order; on Cosmos DB for Table in no
// order, see [QueryOptions.Ordered]. Each pair is an item and nil, or a zero item and an
// error, after which the sequence ends. Rows are read as the loop needs them, a page at
// a time. Leaving the loop ends the reading; no goroutine remains. A sequence that has ended with
// an error cannot be continued, and running it again reads from the beginning: to read on after
// an error, use [Table.Pages].
//
// Query makes at least the requests of [query.Plan.Requests], and one more for each
// further page. At most [QueryOptions.Parallel] of them are for rows that the loop never
// reaches.
//
// f is planned first, see [query.Explain]: exact keys become point reads, and several
// partitions become one range each, up to [QueryOptions.Parallel] of them concurrently.
// A scan of the whole table fails unless [QueryOptions.Allow] permits it. A name or type
// in f that T does not have is an error before any request. f may name any property if T is
// a map, has a map for unknown properties, or has no fields for properties, such as [Row].
func (t *Table[T]) Query(ctx context.Context, f query.Filter, opts *QueryOptions) iter.Seq2[Item[T], error] {
	return queryItems[T](ctx, t.rows, f, opts)
}

// Explain returns the plan by which [Table.Query] and [Table.Page] would read what f
// matches, or the error with which they would fail before a request: a name or type that
// T does not have, a class that opts do not permit, an option out of range. It makes no
// request.
func (t *Table[T]) Explain(f query.Filter, opts *QueryOptions) (query.Plan, error) {
	p, err := t.rows.Source.Plan(f, opts)
	if err != nil {
		return query.Plan{}, err
	}
	return p.Explain(), nil
}

func getItem[T any](ctx context.Context, r *records.Reader, key keys.Key) (Item[T], error) {
	page, err := r.Get(ctx, key)
	if err != nil {
		return Item[T]{}, err
	}
	item := itemOf[T](&page.Records[0])
	r.Release(page)
	return item, nil
}

func queryItems[T any](ctx context.Context, r *records.Reader, f query.Filter, opts *QueryOptions) iter.Seq2[Item[T], error] {
	return func(yield func(Item[T], error) bool) {
		r.Query(ctx, f, opts, func(record *txn.Record, err error) bool {
			if err != nil {
				return yield(Item[T]{}, err)
			}
			return yield(itemOf[T](record), nil)
		})
	}
}

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
	return itemPage[T](ctx, t.rows, f, cursor, opts)
}

// Pages returns the pages from cursor on, "" for the first, as [Table.Page] returns them one after
// the other. Each pair is a page and nil, or an error, after which the sequence ends. The page of
// an error has no items, but the Cursor with which Page, or Pages, reads it again. So a loop that
// keeps the Cursor of each pair can read on after an error, without losing or repeating a row.
//
// Pages makes the requests of Page. Unlike [Table.Query] it requests no page before the loop needs
// it.
func (t *Table[T]) Pages(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[Page[T], error] {
	return itemPages[T](ctx, t.rows, f, cursor, opts)
}

func itemPages[T any](ctx context.Context, r *records.Reader, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[Page[T], error] {
	return pages.Each(cursor, func(cursor string) (Page[T], error) {
		return itemPage[T](ctx, r, f, cursor, opts)
	}, func(p *Page[T]) *string { return &p.Cursor })
}

func itemPage[T any](ctx context.Context, r *records.Reader, f query.Filter, cursor string, opts *QueryOptions) (Page[T], error) {
	page, next, err := r.Page(ctx, f, cursor, opts)
	if page == nil {
		return Page[T]{}, err
	}
	items := itemsOf[T](page)
	r.Release(page)
	return Page[T]{Items: items, Cursor: next}, nil
}

// itemsOf returns the records of a page as items.
func itemsOf[T any](page *records.Page) []Item[T] {
	items := make([]Item[T], len(page.Records))
	for i := range items {
		items[i] = itemOf[T](&page.Records[i])
	}
	return items
}
