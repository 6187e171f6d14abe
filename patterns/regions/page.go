package regions

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/azpatterns/azpatterns/internal/cursor"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Page is a part of a query's result. All of it is from the Source. Rows that were inserted in
// the last MaxAge may be missing.
type Page[T any] struct {
	// Items may be empty although more pages follow.
	Items []Item[T]

	// Cursor is the position after this page, like that of [patterns.Page]. It is not valid
	// for a patterns.Table.
	Cursor string

	Source
}

// position is a decoded cursor.
type position struct {
	Region Region    `json:",omitempty"` // that returned the Inner cursor
	Inner  string    `json:",omitempty"` // of package patterns; "" continues by the key
	After  *keys.Key `json:",omitempty"` // the rows of Inner are those after this key
	Last   *keys.Key `json:",omitempty"` // of the last row returned
}

// byKey returns a position from which both regions can continue.
func (p position) byKey() position { return position{After: p.Last, Last: p.Last} }

// filter returns the filter of the rows that are left of f.
func (p position) filter(f query.Filter) query.Filter {
	if p.After == nil {
		return f
	}
	return query.And(f, query.Or(
		query.And(query.PartitionKey.Eq(p.After.Partition), query.RowKey.Gt(p.After.Row)),
		query.PartitionKey.Gt(p.After.Partition)))
}

// Page reads one page of the rows that f matches, in key order, as [patterns.Table.Page] does.
// The first page may come from either region. The next ones come from the region that returned
// the cursor, because its continuation token is not valid in the other. If that region fails,
// Page continues in the other one after the key of the last row: no row is repeated, and none
// is missing that both regions have.
//
// One request. A second one to the secondary if the primary fails; if the primary is slow, only
// for pages without a continuation token. If the region of a cursor failed, Page continues
// with a filter of two more comparisons, and so fails if f has more than 13.
func (t *Table[T]) Page(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) (Page[T], error) {
	pos, err := t.open("page", f, cursor)
	if err != nil {
		return Page[T]{}, err
	}
	page, err := t.page(ctx, f, pos, opts)
	if moved(err) != "" {
		if again, failed := t.page(ctx, f, pos.byKey(), opts); failed == nil || moved(err) == Secondary {
			return again, failed
		}
	}
	return page, err
}

func (t *Table[T]) page(ctx context.Context, f query.Filter, pos position, opts *patterns.QueryOptions) (Page[T], error) {
	ctx, p := permit(ctx, pos.Region, false)
	if p == nil && pos.Region == Secondary {
		pos = pos.byKey()
	}
	rows, err := t.rows.Page(ctx, pos.filter(f), pos.Inner, opts)
	source, err := sourceOf(p, err == nil && (len(rows.Items) > 0 || rows.Cursor != ""), err)
	if err != nil {
		return Page[T]{}, err
	}
	page := Page[T]{Items: itemsOf(rows.Items, source), Source: source}
	if rows.Cursor != "" {
		pos.Region, pos.Inner = source.Region, rows.Cursor
		if n := len(rows.Items); n > 0 {
			pos.Last = &rows.Items[n-1].Key
		}
		page.Cursor, err = t.seal("page", f, pos)
	}
	return page, err
}

// Query returns the rows that f matches, in key order, each with its Source. It reads pages
// one after the other, as [Table.Page] does, and so may begin in one region and end in the
// other. Pages are not requested before the loop needs them. Leaving the loop ends the
// reading.
func (t *Table[T]) Query(ctx context.Context, f query.Filter, opts *patterns.QueryOptions) iter.Seq2[Item[T], error] {
	return func(yield func(Item[T], error) bool) {
		var o patterns.QueryOptions
		if opts != nil {
			o = *opts
		}
		for cursor := ""; ; {
			page, err := t.Page(ctx, f, cursor, &o)
			if err != nil {
				yield(Item[T]{}, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if cursor = page.Cursor; cursor == "" || o.Limit > 0 && o.Limit == len(page.Items) {
				return
			}
			if o.Limit > 0 {
				o.Limit -= len(page.Items)
			}
		}
	}
}

// seal encodes a position.
func (t *Table[T]) seal(kind string, f query.Filter, pos position) (string, error) {
	text, err := json.Marshal(pos)
	if err != nil {
		return "", fmt.Errorf("regions: a cursor: %w", err)
	}
	url, _ := t.rows.URL()
	return cursor.Seal(text, url, "regions", kind, f.String()), nil
}

// open decodes a cursor.
func (t *Table[T]) open(kind string, f query.Filter, text string) (pos position, err error) {
	if text == "" {
		return position{}, nil
	}
	c, ok := cursor.Open(text, "regions", kind, f.String())
	if url, known := t.rows.URL(); !ok || known && !c.Of(url) || json.Unmarshal(c.Position, &pos) != nil {
		return position{}, fmt.Errorf("regions: %s: %w", kind, patterns.ErrBadCursor)
	}
	return pos, nil
}
