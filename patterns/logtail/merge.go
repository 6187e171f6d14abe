package logtail

import (
	"context"
	"math"
	"slices"

	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// maxPage is the most rows that the service puts in one answer.
const maxPage = 1000

// merge gives the rows of a stream's buckets in one order.
type merge[T any] struct {
	log     *Log[T]
	buckets int // read at first
	parts   []*part[T]
	dry     bool // parts[0] has no rows at hand and has to read on
	limited bool
	left    int // rows still wanted, where limited
}

// part is what is read of one bucket. In merge.parts each has rows at hand, but
// for the first while merge.dry; they stand in the order of their next row.
type part[T any] struct {
	filter query.Filter
	rows   []patterns.Item[T]
	cursor string // to the rows not yet read, "" when there are none
	asked  int    // rows asked for in the last page
}

func (l *Log[T]) merge(stream string, rows keys.Range, n int) (*merge[T], error) {
	m := &merge[T]{log: l, limited: n > 0, left: n}
	for _, partition := range l.partitions(stream) {
		if err := keys.Check("PartitionKey", partition); err != nil {
			return nil, err
		}
		m.parts = append(m.parts, &part[T]{
			filter: query.And(query.PartitionKey.Eq(partition), query.RowKey.Within(rows)),
		})
	}
	m.buckets = len(m.parts)
	return m, nil
}

// start reads the first rows of all buckets.
func (m *merge[T]) start(ctx context.Context) error {
	window := parallel.Window{Start: m.log.parallel, Max: m.log.parallel}
	for _, err := range parallel.Ordered(ctx, len(m.parts), window, func(ctx context.Context, i int) (struct{}, error) {
		return struct{}{}, m.fill(ctx, m.parts[i], m.share())
	}) {
		if err != nil {
			return err
		}
	}
	m.parts = slices.DeleteFunc(m.parts, func(p *part[T]) bool { return len(p.rows) == 0 })
	slices.SortFunc(m.parts, compare)
	return nil
}

// next gives the next row; ok is false when there is none, or none is wanted.
func (m *merge[T]) next(ctx context.Context) (item patterns.Item[T], ok bool, err error) {
	if m.limited && m.left == 0 {
		return item, false, nil
	}
	if m.dry {
		p := m.parts[0]
		if err := m.fill(ctx, p, max(m.share(), 2*p.asked)); err != nil {
			return item, false, err
		}
		m.dry = false
		m.settle()
	}
	if len(m.parts) == 0 {
		return item, false, nil
	}
	p := m.parts[0]
	item, p.rows = p.rows[0], p.rows[1:]
	m.left--
	if m.dry = len(p.rows) == 0 && p.cursor != ""; !m.dry {
		m.settle()
	}
	return item, true, nil
}

// more reports whether rows may follow those that next gave.
func (m *merge[T]) more() bool { return len(m.parts) > 0 }

// settle takes the first part, whose rows have changed, to its place.
func (m *merge[T]) settle() {
	p, others := m.parts[0], m.parts[1:]
	if len(p.rows) == 0 {
		m.parts = others
		return
	}
	at, _ := slices.BinarySearchFunc(others, p, compare)
	copy(m.parts, others[:at])
	m.parts[at] = p
}

// fill reads the next rows of p: none only if it has no more. A page may be empty
// although more follow.
func (m *merge[T]) fill(ctx context.Context, p *part[T], size int) error {
	if m.limited {
		size = min(size, m.left)
	}
	p.asked = min(size, maxPage)
	for {
		page, err := m.log.table.Page(ctx, p.filter, p.cursor, &patterns.QueryOptions{PageSize: p.asked, Ordered: true})
		if err != nil {
			return err
		}
		p.rows, p.cursor = page.Items, page.Cursor
		if len(p.rows) > 0 || p.cursor == "" {
			return nil
		}
	}
}

// share is how many rows to ask one bucket for. Of n rows, spread at random, it has
// n/N on average; it has three standard deviations more, and the one that shows
// that there are others, so rarely that fewer than 3 tails in 100 have to ask again.
func (m *merge[T]) share() int {
	switch {
	case !m.limited:
		return maxPage
	case m.buckets == 1:
		return m.left
	}
	mean := float64(m.left) / float64(m.buckets)
	return int(math.Ceil(mean+3*math.Sqrt(mean))) + 1
}

// compare orders parts by their next row: row keys are unique in a stream.
func compare[T any](a, b *part[T]) int {
	return keys.Compare(a.rows[0].Key.Row, b.rows[0].Key.Row)
}
