package logtail

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/internal/cursor"
	"github.com/azpatterns/azpatterns/patterns"
)

// Page is a part of a Range.
type Page[T any] struct {
	// Entries, the newest first.
	Entries []Entry[T]

	// Cursor gets the next page, also in another process and much later. It is
	// opaque, safe in a URL, and tied to table, stream, times and number of buckets.
	// It is "" when there are no more entries.
	Cursor string
}

const defaultPage = 100

// Page reads up to n entries of what Range gives, and goes on behind an earlier
// Page by its cursor; "" is the beginning. n below 1 means 100. With the zero times
// it leafs through the whole stream, from the newest entry to the oldest.
//
// A cursor stands behind an entry: entries appended meanwhile that are newer do not
// move it. A cursor that is damaged, or of another table, stream or range, gives
// [patterns.ErrBadCursor].
//
// Requests are as for Tail(n). When the last page is exactly full, one more, empty,
// may follow it.
func (l *Log[T]) Page(ctx context.Context, stream string, from, to time.Time, after string, n int) (Page[T], error) {
	page, err := l.page(ctx, stream, from, to, after, n)
	if err != nil {
		return Page[T]{}, fmt.Errorf("page: %w", err)
	}
	return page, nil
}

func (l *Log[T]) page(ctx context.Context, stream string, from, to time.Time, after string, n int) (Page[T], error) {
	var page Page[T]
	rows, err := window(from, to)
	if err != nil {
		return page, err
	}
	if n < 1 {
		n = defaultPage
	}
	bounds := []string{"logtail", stream, rows.From, rows.To, strconv.Itoa(len(l.partitions(stream)))}
	begin, ok := cursor.Open(after, bounds...)
	if !ok || !l.mayBeOf(begin) {
		return page, patterns.ErrBadCursor
	}
	if last := string(begin.Position); last != "" {
		if !rows.Contains(last) {
			return page, patterns.ErrBadCursor
		}
		rows.From = last + " " // no legal key is between
	}
	m, err := l.merge(stream, rows, n)
	if err != nil {
		return page, err
	}
	if err := m.start(ctx); err != nil {
		return page, err
	}
	if !l.mayBeOf(begin) {
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
		page.Cursor = cursor.Seal([]byte(last), url, bounds...)
	}
	return page, nil
}

// mayBeOf reports whether a cursor may be of this table. The SDK does not tell the
// table's name: until a request has shown it, any may be.
func (l *Log[T]) mayBeOf(c cursor.Cursor) bool {
	url, known := l.table.URL()
	return !known || c.Of(url)
}
