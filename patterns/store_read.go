package patterns

import (
	"context"
	"iter"

	"github.com/azpatterns/azpatterns/query"
)

// Query is [Table.Query] of the primaries: it returns the entities that were stored as such,
// and no rows that the Store or its views have made, whatever else is in the same partitions.
// A row is a primary unless
//
//   - its row key begins with "~azp", or it has azp_view: it belongs to a Store or a view, also
//     of another program;
//   - [Shape.Owner] of one of the Store's views recognizes it as a row of the view;
//   - it has only what views have merged into it, because no entity has been stored there: see
//     [MergeRow];
//   - it does not match [StoreOptions.Primaries];
//   - [TableOptions.Key] returns another key, or an error, for the value read from it: it is an
//     entity of another type. If T has fields for its keys instead, every entity has the right
//     key, and only Primaries can distinguish entities of other types.
//
// An entity of another type that cannot be read as a T is a [*PropertyError], because it could
// also be a damaged primary. Exclude such entities by Primaries.
//
// [QueryOptions.Limit] counts primaries, [QueryOptions.PageSize] rows. The service reads all
// rows that the filters match, so there is a request for every 1000 of these, primaries or
// not. With a Limit, the first request is for as many rows as the Limit, later ones are for
// full pages.
//
// With [QueryOptions.Select] two more properties are requested, but not returned. If
// TableOptions.Key is set and Primaries is not, or if a view with rows in the table has an
// Owner, whole rows are read, because the key, or the owner, may depend on any property; the
// others are removed from the result. Otherwise, if Key and Primaries are both set, the keys
// of a selection are not compared.
func (s *Store[T]) Query(ctx context.Context, f query.Filter, opts *QueryOptions) iter.Seq2[Item[T], error] {
	return queryItems[T](ctx, s.rows, f, opts)
}

// Page is [Table.Page] of the primaries, see [Store.Query]. It makes the same number of
// requests, so a page may be short, or have no items, although more follow; only an empty
// cursor ends the result. Limit and PageSize limit the rows that are read for the page. A
// cursor is valid for the same [StoreOptions.Primaries] only.
func (s *Store[T]) Page(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) (Page[T], error) {
	return itemPage[T](ctx, s.rows, f, cursor, opts)
}

// Pages is [Table.Pages] of the primaries: the pages of [Store.Page].
func (s *Store[T]) Pages(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[Page[T], error] {
	return itemPages[T](ctx, s.rows, f, cursor, opts)
}

// Scan is [Table.Scan] of the primaries, see [Store.Query]: it returns each primary that
// exists all the time exactly once, over any number of runs that continue from one another's
// cursors. The counts are those of primaries. A page may have no items. A cursor is valid
// for the same [StoreOptions.Primaries] only.
func (s *Store[T]) Scan(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[ScanPage[T], error] {
	return scanItems[T](ctx, s.rows, f, cursor, opts)
}
