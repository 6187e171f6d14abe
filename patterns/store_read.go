package patterns

import (
	"context"
	"iter"
	"slices"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
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
	return s.rows.query(ctx, f, opts)
}

// Page is [Table.Page] of the primaries, see [Store.Query]. It makes the same number of
// requests, so a page may be short, or have no items, although more follow; only an empty
// cursor ends the result. Limit and PageSize limit the rows that are read for the page. A
// cursor is valid for the same [StoreOptions.Primaries] only.
func (s *Store[T]) Page(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) (Page[T], error) {
	return s.rows.page(ctx, f, cursor, opts)
}

// Pages is [Table.Pages] of the primaries: the pages of [Store.Page].
func (s *Store[T]) Pages(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[Page[T], error] {
	return s.rows.pages(ctx, f, cursor, opts)
}

// Scan is [Table.Scan] of the primaries, see [Store.Query]: it returns each primary that
// exists all the time exactly once, over any number of runs that continue from one another's
// cursors. [ScanProgress.Rows] counts primaries. A page may have no items. A cursor is valid
// for the same [StoreOptions.Primaries] only.
func (s *Store[T]) Scan(ctx context.Context, f query.Filter, cursor string, opts *ScanOptions) iter.Seq2[ScanPage[T], error] {
	return s.rows.scan(ctx, f, cursor, opts)
}

// primariesOf returns the reader of the primaries of table, which filter matches. The error
// is that of the filter.
func primariesOf[T any](table *Table[T], views *view.Set, filter query.Filter) (*rowReader[T], error) {
	r := &rowReader[T]{decoder: rowDecoder[T]{codec: table.txn.Codec, stamped: table.txn.Stamped, sent: table.rows.decoder.sent, primaries: views}}
	if table.keyFunc {
		views.KeyOf = table.txn.KeyOf
	}
	whole := table.keyFunc && filter.IsZero() || views.HasOwner()
	var err error
	r.source, err = table.rows.source.Restrict(&fetch.View{
		Filter: filter,
		Whole:  whole,
		Needs:  view.MarkProperties(),
		Drop: func(rows fetch.Rows, selected []string) {
			b := rows.(*itemBuffer[T])
			b.keepPrimaries(views, selected == nil || whole)
			if selected != nil {
				b.project(selected)
			}
		},
	})
	return r, err
}

// keepPrimaries removes the items that are not primaries. inFull means that they have all
// properties.
func (b *itemBuffer[T]) keepPrimaries(views *view.Set, inFull bool) {
	kept := b.items[:0]
	var r txn.Record
	for i := range b.items {
		item := &b.items[i]
		r.Value, r.Key, r.Origin = &item.Value, item.Key, item.origin
		if ok, err := views.IsPrimary(&r, inFull); ok || err != nil { // a write returns the error
			kept = append(kept, *item)
		}
	}
	clear(b.items[len(kept):])
	b.items = kept
}

// project removes from the items what was read in addition to the properties selected.
func (b *itemBuffer[T]) project(selected []string) {
	for i := range b.items {
		item := &b.items[i]
		b.decoder.codec.Keep(&item.Value, selected)
		var origin txn.Origin
		if item.origin != nil {
			origin = *item.origin
		}
		origin.Selected = selected
		origin.Unknown = origin.Unknown.Keep(func(name []byte) bool { return slices.Contains(selected, string(name)) })
		item.origin = &origin
	}
}
