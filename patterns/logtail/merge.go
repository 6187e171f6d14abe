package logtail

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// maxPage is the service's limit for the rows of one reply.
const maxPage = 1000

// merge merges the rows of a stream's buckets into one order.
type merge[T any] struct {
	log     *Log[T]
	options patterns.QueryOptions
	total   int          // number of buckets of the stream
	buckets []*bucket[T] // with rows, in the order of their next row
	refill  bool         // the first bucket has no rows left and must be read first
	limited bool
	left    int // rows still wanted, if limited
}

// bucket is the part of one bucket that is in memory.
type bucket[T any] struct {
	filter query.Filter
	rows   []patterns.Item[T]
	cursor string // of the rows not yet read, "" if there are none
}

// merge returns a merge of the rows in a range of row keys, up to n rows unless n is 0, which are
// read with opts.
func (l *Log[T]) merge(stream string, rows keys.Range, n int, opts patterns.QueryOptions) (*merge[T], error) {
	opts.Ordered, opts.Limit = true, 0 // merge counts the rows of all buckets
	m := &merge[T]{log: l, options: opts, limited: n > 0, left: n}
	for _, partition := range l.partitions(stream) {
		if err := keys.Check("PartitionKey", partition); err != nil {
			return nil, err
		}
		m.buckets = append(m.buckets, &bucket[T]{
			filter: query.And(query.PartitionKey.Eq(partition), query.RowKey.Within(rows)),
		})
	}
	m.total = len(m.buckets)
	return m, nil
}

// start reads the first rows of all buckets.
func (m *merge[T]) start(ctx context.Context) error {
	parallel := cmp.Or(m.options.Parallel, m.log.parallel)
	window := calls.Window{Start: parallel, Max: parallel}
	for _, err := range calls.Ordered(ctx, len(m.buckets), window, func(ctx context.Context, i int) (struct{}, error) {
		return struct{}{}, m.fill(ctx, m.buckets[i], m.share())
	}) {
		if err != nil {
			return err
		}
	}
	m.buckets = slices.DeleteFunc(m.buckets, func(b *bucket[T]) bool { return len(b.rows) == 0 })
	slices.SortFunc(m.buckets, compare)
	return nil
}

// next returns the next row. ok is false if there are no more rows or no more are wanted.
func (m *merge[T]) next(ctx context.Context) (item patterns.Item[T], ok bool, err error) {
	if m.limited && m.left == 0 {
		return item, false, nil
	}
	if m.refill {
		b := m.buckets[0]
		// More than its share is in this bucket, probably because entries were appended together.
		if err := m.fill(ctx, b, maxPage); err != nil {
			return item, false, err
		}
		m.refill = false
		m.moveFirst()
	}
	if len(m.buckets) == 0 {
		return item, false, nil
	}
	b := m.buckets[0]
	item, b.rows = b.rows[0], b.rows[1:]
	m.left--
	if m.refill = len(b.rows) == 0 && b.cursor != ""; !m.refill {
		m.moveFirst()
	}
	return item, true, nil
}

// more reports whether there may be further rows.
func (m *merge[T]) more() bool { return len(m.buckets) > 0 }

// moveFirst moves the first bucket, whose rows have changed, to its position in the order,
// or removes it if it has no more rows.
func (m *merge[T]) moveFirst() {
	b, others := m.buckets[0], m.buckets[1:]
	if len(b.rows) == 0 {
		m.buckets = others
		return
	}
	at, _ := slices.BinarySearchFunc(others, b, compare)
	copy(m.buckets, others[:at])
	m.buckets[at] = b
}

// fill reads the next rows of b. It returns without rows only if there are no more: an empty
// page of the service may be followed by others.
func (m *merge[T]) fill(ctx context.Context, b *bucket[T], size int) error {
	if m.limited {
		size = min(size, m.left)
	}
	options := m.options
	options.PageSize = min(size, cmp.Or(options.PageSize, maxPage))
	for {
		page, err := m.log.table.Page(ctx, b.filter, b.cursor, &options)
		if err != nil {
			return err
		}
		b.rows, b.cursor = page.Items, page.Cursor
		if len(b.rows) > 0 || b.cursor == "" {
			return nil
		}
	}
}

// share returns how many rows to request from one bucket. Of n rows that are spread at
// random, a bucket contains n/N on average. share adds three standard deviations, and one
// row that shows whether more follow. With this, fewer than 3 reads in 100 need a further
// request.
func (m *merge[T]) share() int {
	switch {
	case !m.limited:
		return maxPage
	case m.total == 1:
		return m.left
	}
	mean := float64(m.left) / float64(m.total)
	return int(math.Ceil(mean+3*math.Sqrt(mean))) + 1
}

// compare orders buckets by their next row. Row keys are unique in a stream.
func compare[T any](a, b *bucket[T]) int {
	return keys.Compare(a.rows[0].Key.Row, b.rows[0].Key.Row)
}
