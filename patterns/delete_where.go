package patterns

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// DeleteOptions are the options of [Table.DeleteWhere]. nil and the zero value mean the defaults.
type DeleteOptions struct {
	// QueryOptions are those of the read that finds the rows. The zero Filter, which matches every
	// row, needs Allow. Parallel is also in how many partitions rows are deleted concurrently. Select
	// and Limit are refused with [ErrBadOption].
	QueryOptions

	// IfUnchanged deletes a row only in the version that was found. A row that was changed
	// since is kept and counted as Skipped. The zero value deletes any version.
	IfUnchanged bool

	// DryRun finds the rows and deletes none.
	DryRun bool

	// Progress, if not nil, receives the counts after each transaction. Calls do not overlap.
	Progress func(Progress)
}

// DeleteWhere deletes the rows that match f. It is meant for tables that also contain rows to
// keep. To delete all rows of whole periods, Tables.DropBefore of package highvolumedelete needs
// only one request for each table.
//
// It reads only keys, in pages of 1,000, and deletes in transactions of up to 100 rows of one
// partition. Transactions of different partitions run concurrently with each other and with
// the read. n rows of a partition take n/100 transactions, rounded up, regardless of page
// boundaries. So the total is one request for each page and one for each transaction: 1,100
// for 100,000 rows in 100 partitions.
//
// Found are the rows that match f, Done those that were deleted, also by another client during the
// run, and Skipped those that were kept because another client has changed them. Cursor continues in
// another run with the same table and filter after all rows that are done; "" is the beginning. A run
// that continues may find rows again that were deleted; they cost nothing but their page. A cursor
// that is damaged, or of another table or filter, is [ErrBadCursor].
//
// DeleteWhere is not atomic. On an error, or when ctx ends, it waits for the running requests
// and returns. The counts show what was done, and Cursor where to continue; starting from the
// beginning is correct too. Concurrent runs are safe: a row that another run has deleted
// counts as Done, and its transaction is repeated after another read.
//
// A transaction whose outcome is unknown is repeated after another read, a few times, before
// DeleteWhere returns [ErrOutcomeUnknown].
//
// Without [DeleteOptions.IfUnchanged] a transaction may be carried out twice, or late, after
// an attempt without a reply: it then deletes rows that were inserted again with the same
// keys.
//
// Rows that are inserted before the current position of the read are kept. Do not use DeleteWhere on
// the table of a [Store]: its views would not be updated.
func (t *Table[T]) DeleteWhere(ctx context.Context, f query.Filter, cursor string, opts *DeleteOptions) (Progress, error) {
	var o DeleteOptions
	if opts != nil {
		o = *opts
	}
	if t == nil {
		return Progress{}, fmt.Errorf("delete: table: %w", ErrNil)
	}
	if o.Select != nil || o.Limit != 0 {
		return Progress{}, fmt.Errorf("delete: %w: Select and Limit have no meaning", ErrBadOption)
	}
	o.Select = []string{}
	if _, err := t.Explain(f, &o.QueryOptions); err != nil {
		return Progress{}, fmt.Errorf("delete: %w", err)
	}
	d := &deletion[T]{table: t, filter: f, options: o, next: cursor}
	d.progress.Cursor = cursor
	ctx = d.requests.Context(ctx)
	err := d.run(ctx)
	if err != nil {
		err = fmt.Errorf("delete: %w", err)
	}
	d.progress.Requests = d.requests.Count()
	return d.progress, err
}

// deletion is a running DeleteWhere. The goroutine of the caller reads, and one goroutine
// for each partition deletes.
type deletion[T any] struct {
	table   *Table[T]
	filter  query.Filter
	options DeleteOptions

	workers *errgroup.Group
	current *partitionQueue // of the partition that is being read

	requests calls.Requests
	mu       sync.Mutex // guards the fields below, and calls of Progress
	progress Progress
	pages    []*deletedPage // pages with rows that are not done, in order
	next     string         // cursor after the last page read
}

// deletedPage is a page of keys that was read.
type deletedPage struct {
	cursor string // of the page
	left   int    // rows that are not done
}

// deletedRow is a row to delete.
type deletedRow struct {
	key  keys.Key
	etag azcore.ETag // "" for any version
	page *deletedPage
}

// partitionQueue contains the rows of one partition. Its transactions are sent one after the
// other, which is enough for the 2,000 rows a second that a partition accepts.
type partitionQueue struct {
	partition string
	batch     []deletedRow      // of the transaction that is being filled
	ready     chan []deletedRow // transactions to send; nil before the first
}

// maxReady is how many transactions of a partition may wait.
const maxReady = 1000 / MaxBatchOps

func (d *deletion[T]) run(ctx context.Context) error {
	callerCtx := ctx
	d.workers, ctx = errgroup.WithContext(ctx)
	d.workers.SetLimit(cmp.Or(d.options.Parallel, defaultParallel))
	err := d.read(ctx)
	if err == nil {
		err = d.endPartition(ctx)
	} else if d.current != nil && d.current.ready != nil {
		close(d.current.ready)
	}
	// If a worker failed, the error of the read is only the cancellation.
	if failed := d.workers.Wait(); err == nil || failed != nil && callerCtx.Err() == nil {
		err = failed
	}
	return err
}

// read finds the rows and adds them to the queues of their partitions.
func (d *deletion[T]) read(ctx context.Context) error {
	for cursor := d.next; ; {
		found, err := d.table.Page(ctx, d.filter, cursor, &d.options.QueryOptions)
		if err != nil {
			return err
		}
		p := &deletedPage{cursor: cursor, left: len(found.Items)}
		d.mu.Lock()
		d.progress.Found += len(found.Items)
		d.pages, d.next = append(d.pages, p), found.Cursor
		d.advanceCursor()
		d.mu.Unlock()
		for i := range found.Items {
			t := deletedRow{key: found.Items[i].Key, page: p}
			if d.options.IfUnchanged {
				t.etag = found.Items[i].ETag
			}
			if err := d.add(ctx, t); err != nil {
				return err
			}
		}
		if cursor = found.Cursor; cursor == "" {
			return nil
		}
	}
}

// add adds a row to the queue of its partition, and sends the transaction when it is full.
func (d *deletion[T]) add(ctx context.Context, t deletedRow) error {
	if d.current == nil || d.current.partition != t.key.Partition {
		if err := d.endPartition(ctx); err != nil {
			return err
		}
		d.current = &partitionQueue{partition: t.key.Partition}
	}
	d.current.batch = append(d.current.batch, t)
	if len(d.current.batch) < MaxBatchOps {
		return nil
	}
	return d.send(ctx)
}

// endPartition sends the rest of the current partition.
func (d *deletion[T]) endPartition(ctx context.Context) error {
	if d.current == nil {
		return nil
	}
	err := d.send(ctx)
	if d.current.ready != nil {
		close(d.current.ready)
	}
	d.current = nil
	return err
}

// send passes the current transaction to the goroutine of its partition, and starts that
// goroutine for the first one. It blocks while too many transactions are waiting.
func (d *deletion[T]) send(ctx context.Context) error {
	q := d.current
	if len(q.batch) == 0 {
		return nil
	}
	batch := q.batch
	q.batch = nil
	if d.options.DryRun {
		d.done(batch, len(batch), 0)
		return nil
	}
	if q.ready == nil {
		q.ready = make(chan []deletedRow, maxReady)
		d.workers.Go(func() error {
			for batch := range q.ready {
				if err := d.delete(ctx, batch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	select {
	case q.ready <- batch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// done records rows of which nothing is left to do, the number of those that are deleted and of those that
// are kept, and reports the counts.
func (d *deletion[T]) done(rows []deletedRow, deleted, kept int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range rows {
		rows[i].page.left--
	}
	d.progress.Done += deleted
	d.progress.Skipped += kept
	d.progress.Requests = d.requests.Count()
	d.advanceCursor()
	if d.options.Progress != nil {
		d.options.Progress(d.progress)
	}
}

// advanceCursor moves the cursor after the pages that are done. The caller holds mu.
func (d *deletion[T]) advanceCursor() {
	for len(d.pages) > 0 && d.pages[0].left == 0 {
		d.pages = d.pages[1:]
	}
	d.progress.Cursor = d.next
	if len(d.pages) > 0 {
		d.progress.Cursor = d.pages[0].cursor
	}
}
