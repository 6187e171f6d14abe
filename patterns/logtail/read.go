package logtail

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// endOfTime is the first time that no key can contain.
var endOfTime = time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)

// Tail yields the n newest entries of the stream, newest first, or all if there are fewer.
// It yields none if n is below 1. An error is yielded with a zero Entry and ends the sequence.
// The sequence reads while the loop runs, and stops when the loop ends. It can be used
// again, and then reads again.
//
// A stream in one partition takes one request per 1,000 entries. With N buckets, Tail
// requests from each its likely share of the n entries, n/N + 3·√(n/N) + 1, in one request
// each, [Options.Parallel] of them concurrently. It reads a bucket again only if the share
// is used up and the loop needs another entry: in fewer than 3 of 100 calls, if entries were
// appended one by one. The entries of one AppendAll are all in one bucket, so that one more
// request reads the rest of them, or one for each 1,000.
func (l *Log[T]) Tail(ctx context.Context, stream string, n int) iter.Seq2[Entry[T], error] {
	return func(yield func(Entry[T], error) bool) {
		if n < 1 {
			return
		}
		all, err := rowRange(time.Time{}, time.Time{})
		if err == nil {
			err = l.read(ctx, stream, all, n, yield)
		}
		if err != nil {
			yield(Entry[T]{}, fmt.Errorf("tail: %w", err))
		}
	}
}

// Range yields the entries of the stream with from <= Time < to, newest first, as a
// sequence like that of [Log.Tail]. The end is exclusive, so the range before this one ends at
// from. Both ends are cut to 100 ns, as the times of entries are. The zero to means no end. The
// error matches [patterns.ErrBadKey] if to is before from, or if a year is outside 1 to 9999.
//
// Range makes one request per 1,000 entries of each bucket, and one for a bucket without
// entries. It reads the first page of all buckets when the loop starts, [Options.Parallel]
// of them concurrently, and the others when the loop needs them.
func (l *Log[T]) Range(ctx context.Context, stream string, from, to time.Time) iter.Seq2[Entry[T], error] {
	return func(yield func(Entry[T], error) bool) {
		rows, err := rowRange(from, to)
		if err == nil {
			err = l.read(ctx, stream, rows, 0, yield)
		}
		if err != nil {
			yield(Entry[T]{}, fmt.Errorf("range: %w", err))
		}
	}
}

// Since yields the entries of the stream with time t or later, newest first. It is Range
// without an end.
func (l *Log[T]) Since(ctx context.Context, stream string, t time.Time) iter.Seq2[Entry[T], error] {
	return l.Range(ctx, stream, t, time.Time{})
}

// rowRange returns the row keys of the entries with from <= Time < to, where a zero to
// means no end.
func rowRange(from, to time.Time) (keys.Range, error) {
	if to.IsZero() {
		to = endOfTime
	}
	return keys.InvertedTicksRange(from, to)
}

// read yields the entries with a row key in rows, up to n unless n is 0. It returns the
// error that ended the read without yielding it.
func (l *Log[T]) read(ctx context.Context, stream string, rows keys.Range, n int, yield func(Entry[T], error) bool) error {
	m, err := l.merge(stream, rows, n, patterns.QueryOptions{})
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
