package highvolumedelete

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/cursor"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Page reads a part of what Query gives, in the same order: up to Limit rows, or
// PageSize where there is no Limit; 1,000 without either. It goes on behind an
// earlier Page by its cursor; "" is the beginning. A Page may hold fewer rows, or
// none, while more follow.
//
// The cursor is opaque and safe in a URL, works in another process and much later,
// and is tied to the set of tables, the filter, the selection and NewestFirst. Any
// other gives [patterns.ErrBadCursor]. from and to may differ, as when both move with
// the clock: a page gives what is behind the cursor and between them. Where the table
// that it stands in was dropped meanwhile, it goes on with the next.
//
// The requests are those of Query with that Limit: the list is read by the first
// page and by each that comes to the end of a table; rows that do not fit into the
// page are read again by the next.
func (s *Tables[T]) Page(ctx context.Context, from, to time.Time, f query.Filter, after string, opts *QueryOptions) (patterns.Page[T], error) {
	page, err := s.page(ctx, from, to, f, after, opts)
	if err != nil {
		return patterns.Page[T]{}, fmt.Errorf("page: %w", err)
	}
	return page, nil
}

func (s *Tables[T]) page(ctx context.Context, from, to time.Time, f query.Filter, after string, opts *QueryOptions) (patterns.Page[T], error) {
	var page patterns.Page[T]
	r, err := s.reading(from, to, f, opts)
	if err != nil {
		return page, err
	}
	if !r.limited {
		r.limit(r.options.PageSize)
	}
	begin, ok := cursor.Open(after, r.bounds()...)
	at, whole := unpack(begin.Position)
	if !ok || !whole || !s.mayBeOf(begin) {
		return page, patterns.ErrBadCursor
	}
	for step, err := range r.steps(ctx, at) {
		if err != nil {
			return patterns.Page[T]{}, err
		}
		s.learn(step.table)
		if !s.mayBeOf(begin) {
			return patterns.Page[T]{}, patterns.ErrBadCursor
		}
		if len(step.items) > int(r.left.Load()) {
			// Read ahead, when more were wanted. The cursor stands before this table.
			page.Cursor = r.seal(at)
			return page, nil
		}
		page.Items = append(page.Items, step.items...)
		at = step.next
		if step.last {
			return page, nil
		}
		if r.took(len(step.items)) {
			page.Cursor = r.seal(at)
			return page, nil
		}
	}
	return page, nil
}

// bounds tell this reading's cursors from those of others.
func (r *reading[T]) bounds() []string {
	n := r.set.names
	return []string{"highvolumedelete", strings.ToLower(n.prefix), n.period.String(),
		strconv.FormatBool(r.newest), r.filter.String(), strings.Join(r.options.Select, ",")}
}

// The position of a cursor is
//
//	beginning of the period: seconds since 1970 (varint)
//	1 behind its table, else 0
//	cursor within the table

// seal makes the cursor for at. It is called when a request has shown the account.
func (r *reading[T]) seal(at place) string {
	b := binary.AppendVarint(nil, at.start.Unix())
	if at.behind {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	r.set.mu.Lock()
	account := r.set.account
	r.set.mu.Unlock()
	return cursor.Seal(append(b, at.cursor...), account, r.bounds()...)
}

func unpack(position []byte) (at place, ok bool) {
	if len(position) == 0 {
		return place{}, true
	}
	seconds, n := binary.Varint(position)
	if n <= 0 || len(position) == n || position[n] > 1 {
		return place{}, false
	}
	return place{
		start:  time.Unix(seconds, 0).UTC(),
		behind: position[n] == 1,
		cursor: string(position[n+1:]),
	}, true
}

// learn keeps the address of the account, which the SDK does not tell: what comes
// before the name in the address of a table.
func (s *Tables[T]) learn(table *patterns.Table[T]) {
	if url, ok := table.URL(); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.account = url[:strings.LastIndexByte(url, '/')+1]
	}
}

// mayBeOf reports whether a cursor may be of this account.
func (s *Tables[T]) mayBeOf(c cursor.Cursor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account == "" || c.Of(s.account)
}
