package logtail

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/azpatterns/azpatterns/keys"
)

// The sequences below give each entry with nil, the newest first, or at last a zero
// Entry and the error that ended them. They read as the loop goes on, and stop
// when it breaks off. They can be run again, which reads again.
//
// In one partition an entry is behind another if it is older, or of the same 100 ns
// and appended earlier by the same Log; the partitions of a spread stream are
// merged into the same order.

// lastTick is the latest time that a key can tell.
var lastTick = time.Date(9999, time.December, 31, 23, 59, 59, 999_999_900, time.UTC)

// Tail gives the n newest entries of the stream, the newest first, or all where
// there are fewer. n below 1 gives none.
//
// A stream in one partition takes one request for each 1,000 entries. Of N buckets
// each is asked for its likely share of the n, which is n/N + 3·√(n/N) + 1, in one
// request each, [Options.Parallel] at once. A bucket is asked again only when its
// share is used up and the loop needs another entry: in fewer than 3 of 100 tails of
// entries that were appended one by one. Those of one AppendAll are in one bucket, which
// a tail of many of them asks again.
func (l *Log[T]) Tail(ctx context.Context, stream string, n int) iter.Seq2[Entry[T], error] {
	return func(yield func(Entry[T], error) bool) {
		if n < 1 {
			return
		}
		all, err := window(time.Time{}, time.Time{})
		if err == nil {
			err = l.read(ctx, stream, all, n, yield)
		}
		if err != nil {
			yield(Entry[T]{}, fmt.Errorf("tail: %w", err))
		}
	}
}

// Range gives the entries of the stream with a time from from to to, both
// included, the newest first. Both ends are cut to 100 ns, as the times of entries
// are; the next window ends at from.Add(-100). The zero time as to means no end. A
// to before from, or a year outside 1 to 9999, is an error that matches
// [patterns.ErrBadKey].
//
// One request for each 1,000 entries of each bucket, and one for a bucket that has
// none. The first ones of all buckets are made when the loop begins,
// [Options.Parallel] at once, the others as it needs them.
func (l *Log[T]) Range(ctx context.Context, stream string, from, to time.Time) iter.Seq2[Entry[T], error] {
	return func(yield func(Entry[T], error) bool) {
		rows, err := window(from, to)
		if err == nil {
			err = l.read(ctx, stream, rows, 0, yield)
		}
		if err != nil {
			yield(Entry[T]{}, fmt.Errorf("range: %w", err))
		}
	}
}

// Since gives the entries of the stream with time t or later, the newest first: it
// is Range without an end.
func (l *Log[T]) Since(ctx context.Context, stream string, t time.Time) iter.Seq2[Entry[T], error] {
	return l.Range(ctx, stream, t, time.Time{})
}

// window is the range of row keys of the entries from from to to. In a key the
// newest comes first, so the ends change places.
func window(from, to time.Time) (keys.Range, error) {
	if to.IsZero() {
		to = lastTick
	}
	return keys.InvertedTicksRange(from, to)
}

// read yields the entries with a row key in rows, at most n unless n is 0. It
// returns the error that ended it, without yielding it.
func (l *Log[T]) read(ctx context.Context, stream string, rows keys.Range, n int, yield func(Entry[T], error) bool) error {
	m, err := l.merge(stream, rows, n)
	if err != nil {
		return err
	}
	if err := m.start(ctx); err != nil {
		return err
	}
	for {
		item, ok, err := m.next(ctx)
		if !ok || err != nil {
			return err
		}
		entry, err := entryOf(item)
		if err != nil {
			return err
		}
		if !yield(entry, nil) {
			return nil
		}
	}
}
