package tablectl

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// insert sends the rows of a chunk in transactions, and returns those that it has not stored: they are to be sent once more. It reads the
// rows that a refused transaction would have inserted, so that those which exist already are not sent again: two requests for each 100.
func (m *move) insert(ctx context.Context, c *chunk) (rest []row, err error) {
	var batches [][]row
	size := 0
	rows := slices.Clone(c.rows)
	slices.SortStableFunc(rows, func(a, b row) int { return a.Key.Compare(b.Key) })
	for i, r := range rows {
		last := len(batches) - 1
		switch size += len(r.text) + rowOverhead; {
		case i > 0 && rows[i-1].Key == r.Key:
			rest = append(rest, r)
		case last < 0 || len(batches[last]) == patterns.MaxBatchOps || size > maxBatchText || batches[last][0].Key.Partition != r.Key.Partition:
			batches, size = append(batches, []row{r}), len(r.text)+rowOverhead
		default:
			batches[last] = append(batches[last], r)
		}
	}
	var lock sync.Mutex // of rest, c and the counts
	err = calls.Each(ctx, len(batches), m.parallel, func(ctx context.Context, i int) error {
		b := m.table.Batch()
		for op := range operations(batches[i], m.mode) {
			b.Add(op)
		}
		_, err := b.Commit(ctx)
		found := map[string]patterns.Item[stored]{}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, patterns.ErrExists):
			if found, err = m.stored(ctx, batches[i]); err != nil {
				return err
			}
		case !isRefusal(err):
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		for _, r := range batches[i] {
			if item, ok := found[r.Key.Row]; !ok {
				rest = append(rest, r)
			} else {
				m.existing(c, r, item)
			}
		}
		return nil
	})
	return rest, err
}

const (
	maxBatchText = 3 << 20 // of a transaction, which has at most 4 MiB
	rowOverhead  = 1 << 10 // of the headers of a row in it
)

// stored returns the rows of a partition that exist. It reads the range of their keys; if that has more than a page of others, each row
// by its key.
func (m *move) stored(ctx context.Context, rows []row) (map[string]patterns.Item[stored], error) {
	found := map[string]patterns.Item[stored]{}
	partition := query.PartitionKey.Eq(rows[0].Key.Partition)
	exact := make([]query.Filter, len(rows))
	for i, r := range rows {
		exact[i] = query.RowKey.Eq(r.Key.Row)
	}
	page, err := m.table.Page(ctx, query.And(partition, query.RowKey.Ge(rows[0].Key.Row), query.RowKey.Le(rows[len(rows)-1].Key.Row)), "", nil)
	if err != nil {
		return nil, err
	}
	for _, item := range page.Items {
		found[item.Key.Row] = item
	}
	if page.Cursor == "" {
		return found, nil
	}
	for item, err := range m.table.Query(ctx, query.And(partition, query.Or(exact...)), &patterns.QueryOptions{Parallel: m.parallel}) {
		if err != nil {
			return nil, err
		}
		found[item.Key.Row] = item
	}
	return found, nil
}
