package logtail

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Page is a part of a range of entries.
type Page[T any] struct {
	// Entries, newest first.
	Entries []Entry[T]

	// Cursor is the position after the last entry, "" if there are no more entries. It is
	// opaque, safe in a URL, valid in other processes, and does not expire. It is valid only
	// for the same table, stream, times and number of buckets.
	Cursor string
}

const defaultLimit = 100

// Page reads a part of what [Log.Range] yields. cursor is the Cursor of an earlier Page, or
// "" for the first page. If from and to are zero, the pages contain the whole stream from
// the newest entry to the oldest.
//
// Entries that are appended later and are newer do not change the following pages. The error
// matches [patterns.ErrBadCursor] if the cursor is damaged or belongs to another table,
// stream or range.
//
// [patterns.QueryOptions.Limit] is the number of entries in the page. If it is zero, PageSize is, and if
// both are, 100. Parallel, unless zero, replaces that of [Options].
//
// The number of requests is that of [Log.Tail] with n = Limit. If the last page is full, its
// Cursor may lead to one more page without entries.
func (l *Log[T]) Page(ctx context.Context, stream string, from, to time.Time, cursor string, opts *patterns.QueryOptions) (Page[T], error) {
	var o patterns.QueryOptions
	if opts != nil {
		o = *opts
	}
	page, err := l.page(ctx, stream, from, to, cursor, o)
	if err != nil {
		return Page[T]{}, fmt.Errorf("page: %w", err)
	}
	return page, nil
}

// Pages returns the pages from cursor on, "" for the first, as [Log.Page] returns them one after
// the other. After an error the sequence ends; the page of that pair has no entries, but the
// Cursor with which the page can be read again. See [patterns.Table.Pages].
func (l *Log[T]) Pages(ctx context.Context, stream string, from, to time.Time, cursor string, opts *patterns.QueryOptions) iter.Seq2[Page[T], error] {
	return pages.Each(cursor, func(cursor string) (Page[T], error) {
		return l.Page(ctx, stream, from, to, cursor, opts)
	}, func(p *Page[T]) *string { return &p.Cursor })
}

func (l *Log[T]) page(ctx context.Context, stream string, from, to time.Time, after string, opts patterns.QueryOptions) (Page[T], error) {
	var page Page[T]
	rows, err := rowRange(from, to)
	if err != nil {
		return page, err
	}
	identity := []string{"logtail", stream, rows.From, rows.To, strconv.Itoa(len(l.partitions(stream)))}
	start, ok := pages.OpenCursor(after, identity...)
	if !ok || !l.mayBelong(start) {
		return page, patterns.ErrBadCursor
	}
	if last := string(start.Position); last != "" {
		if !rows.Contains(last) {
			return page, patterns.ErrBadCursor
		}
		rows.From = last + " " // no valid key is in between
	}
	if _, err := l.table.Explain(query.PartitionKey.Eq(""), &opts); err != nil {
		return page, err
	}
	m, err := l.merge(stream, rows, cmp.Or(opts.Limit, opts.PageSize, defaultLimit), opts)
	if err != nil {
		return page, err
	}
	if err := m.start(ctx); err != nil {
		return page, err
	}
	if !l.mayBelong(start) {
		return page, patterns.ErrBadCursor
	}
	for {
		item, ok, err := m.next(ctx)
		if err != nil {
			return page, err
		}
		if !ok {
			break
		}
		entry, err := entryOf(item)
		if err != nil {
			return page, err
		}
		page.Entries = append(page.Entries, entry)
	}
	if m.more() {
		url, _ := l.table.URL() // known after a request
		last := page.Entries[len(page.Entries)-1].Key.Row
		page.Cursor = pages.SealCursor([]byte(last), url, identity...)
	}
	return page, nil
}

// mayBelong reports whether a cursor may belong to this table. The SDK does not expose the
// address of the table, so before the first request every cursor may.
func (l *Log[T]) mayBelong(c pages.Cursor) bool {
	url, known := l.table.URL()
	return !known || c.Of(url)
}
