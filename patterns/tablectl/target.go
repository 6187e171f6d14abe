package tablectl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// openTable opens the table that is written.
func (m *move) openTable(ctx context.Context, t *patterns.Table[stored]) error {
	m.table = t
	if m.create && !m.dryRun {
		return t.Create(ctx)
	}
	return nil
}

// store stores rows. Those that the service would refuse are refused; any other failure ends the
// command, which can continue later. A dry run writes to an account in this process instead, which
// checks rows as the service does.
func (m *move) store(ctx context.Context, rows []row) (err error) {
	var rest []*row
	for i := range rows {
		if rows[i].refused == nil {
			rest = append(rest, &rows[i])
		}
	}
	switch {
	case m.dryRun: // each chunk has an account of its own, so that memory does not grow
		var opts aztables.ClientOptions
		patterns.Accelerate(&opts.ClientOptions)
		m.table = openTable(storagetest.Start(nil).TablesWith(&opts).NewClient("dryrun"))
		err = m.table.Create(ctx)
	case m.mode == "insert":
		rest, err = m.insert(ctx, rest)
	}
	if err != nil {
		return err
	}
	report, err := m.table.Bulk(ctx, operations(rest, m.mode), &patterns.BulkOptions{Parallel: m.parallel})
	if err != nil && len(report.Failures) == 0 {
		return err
	}
	for _, f := range report.Failures {
		r := rest[f.Index]
		switch {
		case errors.Is(f.Err, patterns.ErrTableNotFound):
			return fmt.Errorf("%w; -create creates the table", f.Err)
		case !isRefusal(f.Err):
			return f.Err
		case errors.Is(f.Err, patterns.ErrExists):
			item, err := m.table.Get(ctx, r.Key)
			if err == nil {
				m.existing(r, item)
				continue
			}
			if !errors.Is(err, patterns.ErrNotFound) {
				return err
			}
		}
		r.refused = f.Err
	}
	return nil
}

// existing counts a row that cannot be inserted because the table has it: a command that continues may have inserted it before it
// was interrupted.
func (m *move) existing(r *row, item patterns.Item[stored]) {
	if sameContent(item, r.Item) {
		m.job.Present++
	} else {
		r.refused = patterns.ErrExists
	}
}

// modes are the values of -mode.
var modes = map[string]func(*stored) patterns.Op[stored]{
	"insert":  patterns.InsertOp[stored],
	"merge":   func(v *stored) patterns.Op[stored] { return patterns.UpsertOp(v, patterns.Merge) },
	"replace": func(v *stored) patterns.Op[stored] { return patterns.UpsertOp(v, patterns.Replace) },
}

func operations(rows []*row, mode string) iter.Seq[patterns.Op[stored]] {
	return func(yield func(patterns.Op[stored]) bool) {
		for _, r := range rows {
			if !yield(modes[mode](&r.Value).At(r.Key)) {
				return
			}
		}
	}
}

// isRefusal reports whether an operation failed because of its row, so that it would fail again.
func isRefusal(err error) bool {
	badProperty := errors.As(err, new(*patterns.PropertyError))
	var e *patterns.Error
	return badProperty || errors.As(err, &e) && e.Status == http.StatusBadRequest ||
		errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrTooLarge) || errors.Is(err, patterns.ErrBadKey)
}

const (
	maxBatchText = 3 << 20 // of a transaction, which has at most 4 MiB
	rowOverhead  = 1 << 10 // of the headers of a row in it
)

// insert sends rows in transactions, and returns those that it has not stored: they are to be sent once more. It reads the
// rows that a refused transaction would have inserted, so that those which exist already are not sent again: two requests for each 100.
func (m *move) insert(ctx context.Context, rows []*row) (rest []*row, err error) {
	var batches [][]*row
	size := 0
	slices.SortStableFunc(rows, func(a, b *row) int { return a.Key.Compare(b.Key) })
	for i, r := range rows {
		last := len(batches) - 1
		switch size += len(r.text) + rowOverhead; {
		case i > 0 && rows[i-1].Key == r.Key:
			rest = append(rest, r)
		case last < 0 || len(batches[last]) == patterns.MaxBatchOps || size > maxBatchText || batches[last][0].Key.Partition != r.Key.Partition:
			batches, size = append(batches, []*row{r}), len(r.text)+rowOverhead
		default:
			batches[last] = append(batches[last], r)
		}
	}
	var lock sync.Mutex // of rest and the counts
	err = calls.Each(ctx, len(batches), m.parallel, func(ctx context.Context, i int) error {
		b := m.table.Batch()
		for op := range operations(batches[i], m.mode) {
			b.Add(op)
		}
		_, err := b.Commit(ctx)
		var found map[string]patterns.Item[stored]
		if errors.Is(err, patterns.ErrExists) {
			if found, err = m.stored(ctx, batches[i]); err != nil {
				return err
			}
		} else if err == nil || !isRefusal(err) {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		for _, r := range batches[i] {
			if item, ok := found[r.Key.Row]; ok {
				m.existing(r, item)
			} else {
				rest = append(rest, r)
			}
		}
		return nil
	})
	return rest, err
}

// stored returns the rows of a partition that exist. It reads the range of their keys; if that has more than a page of others, each row
// by its key.
func (m *move) stored(ctx context.Context, rows []*row) (map[string]patterns.Item[stored], error) {
	found := map[string]patterns.Item[stored]{}
	partition := query.PartitionKey.Eq(rows[0].Key.Partition)
	page, err := m.table.Page(ctx, query.And(partition, query.RowKey.Ge(rows[0].Key.Row), query.RowKey.Le(rows[len(rows)-1].Key.Row)), "", nil)
	for _, item := range page.Items {
		found[item.Key.Row] = item
	}
	if err != nil || page.Cursor == "" {
		return found, err
	}
	var exact []query.Filter
	for _, r := range rows {
		exact = append(exact, query.RowKey.Eq(r.Key.Row))
	}
	for item, err := range m.table.Query(ctx, query.And(partition, query.Or(exact...)), &patterns.QueryOptions{Parallel: m.parallel}) {
		if err != nil {
			return nil, err
		}
		found[item.Key.Row] = item
	}
	return found, nil
}
