package highvolumedelete

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Page reads a part of what [Tables.Query] yields, in the same order: up to Limit rows, or
// PageSize if Limit is zero, or 1,000 if both are zero. cursor is the Cursor of an earlier
// Page, or "" for the first page. A Page may contain fewer rows, or none, although more
// follow.
//
// The cursor is opaque, safe in a URL, valid in other processes, and does not expire. It is
// valid for the same set of tables, filter, selection and NewestFirst. For any other read
// the error matches [patterns.ErrBadCursor]. from and to may differ, for example if they move
// with the clock: a page contains the rows that are after the cursor and in the range. If the
// table of the cursor has been dropped, the read continues with the next table.
//
// Page makes the requests of Query with that Limit. The first page lists the tables, and so
// does each page that reaches the end of a table. Rows that were prefetched but did not fit
// into the page are read again by the next page.
func (s *Tables[T]) Page(ctx context.Context, from, to time.Time, f query.Filter, cursor string, opts *QueryOptions) (patterns.Page[T], error) {
	page, err := s.page(ctx, from, to, f, cursor, opts)
	if err != nil {
		return patterns.Page[T]{}, fmt.Errorf("page: %w", err)
	}
	return page, nil
}

// Pages returns the pages from cursor on, "" for the first, as [Tables.Page] returns them one
// after the other. After an error the sequence ends; the page of that pair has no items, but the
// Cursor with which the page can be read again. See [patterns.Table.Pages].
func (s *Tables[T]) Pages(ctx context.Context, from, to time.Time, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[patterns.Page[T], error] {
	return pages.Each(cursor, func(cursor string) (patterns.Page[T], error) {
		return s.Page(ctx, from, to, f, cursor, opts)
	}, func(p *patterns.Page[T]) *string { return &p.Cursor })
}

func (s *Tables[T]) page(ctx context.Context, from, to time.Time, f query.Filter, after string, opts *QueryOptions) (patterns.Page[T], error) {
	var page patterns.Page[T]
	r, err := s.newRead(from, to, f, opts)
	if err != nil {
		return page, err
	}
	if !r.limited {
		r.setLimit(r.options.PageSize)
	}
	begin, ok := pages.OpenCursor(after, r.identity()...)
	at, valid := parsePosition(begin.Position)
	if !ok || !valid || !s.mayBelong(begin) {
		return page, patterns.ErrBadCursor
	}
	for step, err := range r.steps(ctx, at) {
		if err != nil {
			return patterns.Page[T]{}, err
		}
		s.learnAccount(step.table)
		if !s.mayBelong(begin) {
			return patterns.Page[T]{}, patterns.ErrBadCursor
		}
		if len(step.items) > int(r.left.Load()) {
			// Prefetched when more rows were wanted: the next page starts with this table.
			page.Cursor = r.seal(at)
			return page, nil
		}
		page.Items = append(page.Items, step.items...)
		at = step.next
		if step.last {
			return page, nil
		}
		if r.consume(len(step.items)) {
			page.Cursor = r.seal(at)
			return page, nil
		}
	}
	return page, nil
}

// identity returns what distinguishes the cursors of this read from those of others.
func (r *read[T]) identity() []string {
	n := r.set.names
	return []string{"highvolumedelete", strings.ToLower(n.prefix), n.period.String(),
		strconv.FormatBool(r.newest), r.filter.String(), strings.Join(r.options.Select, ",")}
}

// The position in a cursor is
//
//	start of the period: seconds since 1970 (varint)
//	1 after its table, else 0
//	cursor within the table

// seal returns the cursor for a position. It is called after a request, when the address of
// the account is known.
func (r *read[T]) seal(at position) string {
	b := binary.AppendVarint(nil, at.start.Unix())
	if at.after {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	r.set.mu.Lock()
	account := r.set.account
	r.set.mu.Unlock()
	return pages.SealCursor(append(b, at.cursor...), account, r.identity()...)
}

func parsePosition(b []byte) (at position, ok bool) {
	if len(b) == 0 {
		return position{}, true
	}
	seconds, n := binary.Varint(b)
	if n <= 0 || len(b) == n || b[n] > 1 {
		return position{}, false
	}
	return position{
		start:  time.Unix(seconds, 0).UTC(),
		after:  b[n] == 1,
		cursor: string(b[n+1:]),
	}, true
}

// learnAccount stores the address of the account, which is the address of a table without
// the name. The SDK does not expose it.
func (s *Tables[T]) learnAccount(table *patterns.Table[T]) {
	if url, ok := table.URL(); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.account = url[:strings.LastIndexByte(url, '/')+1]
	}
}

// mayBelong reports whether a cursor may belong to this account. Before the address of the
// account is known, every cursor may.
func (s *Tables[T]) mayBelong(c pages.Cursor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account == "" || c.Of(s.account)
}
