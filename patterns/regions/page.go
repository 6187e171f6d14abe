package regions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/azpatterns/azpatterns/internal/pages"
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

// byKey returns a position from which a region can continue that did not return p, or if it is
// "", both can.
func (p position) byKey(region Region) position {
	return position{Region: region, After: p.Last, Last: p.Last}
}

// Pages returns the pages from cursor on, "" for the first, as [Table.Page] returns them one after
// the other. After an error the sequence ends; the page of that pair has no items, but the Cursor
// with which the page can be read again. See [patterns.Table.Pages].
func (t *Table[T]) Pages(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) iter.Seq2[Page[T], error] {
	return pages.Each(cursor, func(cursor string) (Page[T], error) {
		return t.Page(ctx, f, cursor, opts)
	}, func(p *Page[T]) *string { return &p.Cursor })
}

// Page reads one page of the rows that f matches, in key order, as [patterns.Table.Page] does.
// The first page may come from either region. The next ones come from the region that returned
// the cursor, because its continuation token is not valid in the other. If that region fails or
// is slow, Page also reads after the key of the last row in the other one, and returns the first
// page that arrives: no row is repeated, and none is missing that both regions have.
//
// One request, and a second one to the other region if the first fails or is slow. The one after
// the key of the last row has a filter with two more comparisons. It is not sent if f has more
// than 13: then only the region of the cursor can answer.
func (t *Table[T]) Page(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) (Page[T], error) {
	pos, err := t.open("page", f, cursor)
	if err != nil {
		return Page[T]{}, err
	}
	if pos.Region == "" {
		return t.page(ctx, f, pos, nil, opts)
	}
	type result struct {
		from position
		get  func() (Page[T], error)
	}
	slow, results := make(chan struct{}, 1), make(chan result, 3) // room for all, so that no sender waits
	hedge := slow
	var reads sync.WaitGroup
	ctx, cancel := context.WithCancelCause(ctx)
	defer reads.Wait()
	defer cancel(errOvertaken)
	read := func(from position) {
		get := sync.OnceValues(func() (Page[T], error) { return t.page(ctx, f, from, slow, opts) })
		reads.Go(func() {
			defer func() {
				_ = recover() // a method of T panicked; get repeats it in the caller's goroutine
				results <- result{from, get}
			}()
			_, _ = get()
		})
	}
	read(pos)
	for {
		select {
		case <-hedge:
			hedge = nil // only one
			read(pos.byKey(pos.Region.other()))
		case r := <-results:
			page, failure := r.get()
			switch {
			case failure != nil && r.from.Region == pos.Region.other(): // the hedge
			case r.from.Region != "" && errors.As(failure, new(*movedError)):
				err = failure
				read(pos.byKey(""))
			case failure != nil && pos.Region == Primary && err != nil:
				return Page[T]{}, err
			default:
				return page, failure
			}
		}
	}
}

// page reads the page at pos. It sends to slow if only one region can answer, and is slow.
func (t *Table[T]) page(ctx context.Context, f query.Filter, pos position, slow chan<- struct{}, opts *patterns.QueryOptions) (Page[T], error) {
	ctx, p := permit(ctx, &permission{pinned: pos.Region, slow: slow})
	if p == nil && pos.Region == Secondary {
		pos = pos.byKey("")
	}
	rows, err := t.rows.Page(ctx, pages.After(f, pos.After), pos.Inner, opts)
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
		page.Cursor = t.seal("page", f, pos)
	}
	return page, nil
}

// Query returns the rows that f matches, in key order, each with its Source. It reads pages
// one after the other, as [Table.Page] does, and so may begin in one region and end in the
// other. Pages are not requested before the loop needs them. Leaving the loop ends the
// reading.
func (t *Table[T]) Query(ctx context.Context, f query.Filter, opts *patterns.QueryOptions) iter.Seq2[Item[T], error] {
	return func(yield func(Item[T], error) bool) {
		o := *cmp.Or(opts, new(patterns.QueryOptions))
		limit := o.Limit
		all := pages.Each("", func(cursor string) (Page[T], error) {
			page, err := t.Page(ctx, f, cursor, &o)
			o.Limit = max(o.Limit-len(page.Items), 0) // Items ends before there is none again
			return page, err
		}, func(p *Page[T]) *string { return &p.Cursor })
		pages.Items(all, limit, func(p Page[T]) []Item[T] { return p.Items })(yield)
	}
}

// seal encodes a position.
func (t *Table[T]) seal(kind string, f query.Filter, pos position) string {
	url, _ := t.rows.URL()
	text, _ := pages.SealJSON(pos, url, "regions", kind, f.String()) // cannot fail: pos consists of strings
	return text
}

// open decodes a cursor.
func (t *Table[T]) open(kind string, f query.Filter, text string) (pos position, err error) {
	url, _ := t.rows.URL()
	if !pages.OpenJSON(text, &pos, url, "regions", kind, f.String()) || !slices.Contains([]Region{"", Primary, Secondary}, pos.Region) {
		return position{}, fmt.Errorf("regions: %s: %w", kind, patterns.ErrBadCursor)
	}
	return pos, nil
}
