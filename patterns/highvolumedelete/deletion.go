package highvolumedelete

import (
	"context"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// deletion is a DeleteWhere under way. The goroutine of the caller reads, and each
// lane deletes in a goroutine of its own.
type deletion[T any] struct {
	table   *patterns.Table[T]
	filter  query.Filter
	options DeleteOptions

	lanes *errgroup.Group
	lane  *lane // of the partition that is being read

	mu       sync.Mutex // guards what follows, and calls of Progress
	progress DeleteProgress
	pages    []*page // read, with rows that are not done, in order
	after    string  // the cursor behind the last page read
}

// page is a page that was read.
type page struct {
	cursor string // that it was read by
	left   int    // rows not done
}

// target is a row to delete.
type target struct {
	key  keys.Key
	etag azcore.ETag // "" for any version
	page *page
}

// lane is the rows of one partition. Its transactions follow one another: one
// partition takes 2,000 rows a second, which is as much as that gives.
type lane struct {
	partition string
	next      []target      // of the transaction being filled
	full      chan []target // transactions ready to send; nil before the first
}

// maxQueued is how many transactions of a lane may wait.
const maxQueued = maxPage / patterns.MaxBatchOps

func (d *deletion[T]) run(ctx context.Context) error {
	reading := ctx
	d.lanes, ctx = errgroup.WithContext(ctx)
	d.lanes.SetLimit(d.options.Parallel)
	err := d.read(ctx)
	if err == nil {
		err = d.endLane(ctx)
	} else if d.lane != nil && d.lane.full != nil {
		close(d.lane.full)
	}
	// Where a lane failed, reading was cancelled for it.
	if failed := d.lanes.Wait(); err == nil || failed != nil && reading.Err() == nil {
		err = failed
	}
	return err
}

// read looks for the rows and hands them to their lanes.
func (d *deletion[T]) read(ctx context.Context) error {
	options := &patterns.QueryOptions{Select: []string{}, Allow: d.options.Allow}
	for cursor := d.options.Cursor; ; {
		found, err := d.table.Page(ctx, d.filter, cursor, options)
		if err != nil {
			return err
		}
		p := &page{cursor: cursor, left: len(found.Items)}
		d.mu.Lock()
		d.progress.Pages++
		d.progress.Found += len(found.Items)
		d.pages, d.after = append(d.pages, p), found.Cursor
		d.advance()
		d.mu.Unlock()
		for i := range found.Items {
			t := target{key: found.Items[i].Key, page: p}
			if d.options.IfUnchanged {
				t.etag = found.Items[i].ETag
			}
			if err := d.take(ctx, t); err != nil {
				return err
			}
		}
		if cursor = found.Cursor; cursor == "" {
			return nil
		}
	}
}

// take adds a row to its partition's lane, and sends what is full.
func (d *deletion[T]) take(ctx context.Context, t target) error {
	if d.lane == nil || d.lane.partition != t.key.Partition {
		if err := d.endLane(ctx); err != nil {
			return err
		}
		d.lane = &lane{partition: t.key.Partition}
	}
	d.lane.next = append(d.lane.next, t)
	if len(d.lane.next) < patterns.MaxBatchOps {
		return nil
	}
	return d.send(ctx)
}

// endLane sends the rest of the partition that was read.
func (d *deletion[T]) endLane(ctx context.Context) error {
	if d.lane == nil {
		return nil
	}
	err := d.send(ctx)
	if d.lane.full != nil {
		close(d.lane.full)
	}
	d.lane = nil
	return err
}

// send gives the lane's transaction to its goroutine, which the first one starts. It
// blocks while too much is under way.
func (d *deletion[T]) send(ctx context.Context) error {
	l := d.lane
	if len(l.next) == 0 {
		return nil
	}
	batch := l.next
	l.next = nil
	if d.options.DryRun {
		d.done(batch, func(p *DeleteProgress) { p.Transactions++; p.Deleted += len(batch) })
		return nil
	}
	if l.full == nil {
		l.full = make(chan []target, maxQueued)
		d.lanes.Go(func() error {
			for batch := range l.full {
				if err := d.delete(ctx, batch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	select {
	case l.full <- batch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// done notes rows that are done, and tells about it.
func (d *deletion[T]) done(rows []target, note func(*DeleteProgress)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range rows {
		rows[i].page.left--
	}
	note(&d.progress)
	d.advance()
	if d.options.Progress != nil {
		d.options.Progress(d.progress)
	}
}

// advance moves the cursor behind the pages that are done. It is called under mu.
func (d *deletion[T]) advance() {
	for len(d.pages) > 0 && d.pages[0].left == 0 {
		d.pages = d.pages[1:]
	}
	d.progress.Cursor = d.after
	if len(d.pages) > 0 {
		d.progress.Cursor = d.pages[0].cursor
	}
}
