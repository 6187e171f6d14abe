package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// parallel is how many transactions of a sweep are in flight.
const parallel = 8

// sweeper is a sweep of the rows of one view.
type sweeper struct {
	*sweep.Run
	*Journal
	name string
	last string // the prefix of the rows of the entity whose newest old row was met
}

// Sweep deletes the rows of the named view that are older than a time, except the newest of these of each entity that existed then: it has
// the state of the entity at that time.
func (j *Journal) Sweep(ctx context.Context, name string, keep time.Duration, opts *types.SweepOptions) (types.SweepReport, error) {
	ctx, run, err := sweep.Begin(ctx, "journal "+name, opts, keep)
	sw := &sweeper{Run: run, Journal: j, name: name}
	if err == nil && sw.OlderThan == 0 {
		err = azerr.Errorf("%w: SweepOptions.OlderThan: it is zero, and so is Keep of the journal", azerr.ErrBadOption)
	}
	if err == nil {
		client := j.rows.Client
		err = run.Tables(ctx, 1, func() string { a, _ := client.Address(); return a.Base }, func(ctx context.Context) error { return txn.LearnTime(ctx, client) }, sw.page)
	}
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return sw.Report(), err
}

// page processes a page of old rows. A cursor is the time before which rows are old, and that of the page.
func (sw *sweeper) page(ctx context.Context, _ int, cursor string) (next string, err error) {
	const layout = "2006-01-02T15:04:05.000Z"
	var at string
	now, _ := sw.rows.Client.ServiceTime()
	before := now.Add(-sw.OlderThan).Truncate(time.Millisecond)
	if cursor != "" {
		if before, err = time.Parse(layout, cursor[:min(len(cursor), len(layout))]); err != nil {
			return cursor, azerr.ErrBadCursor
		}
		at = cursor[len(layout):]
	}
	f := query.And(query.RowKey.Within(keys.Prefix(historyPrefix)), query.Prop(view.PropView).Eq(sw.name), query.Timestamp.Lt(before), sw.InPartitions())
	rows, next, err := fetch.PropertiesPage(ctx, sw.rows.Client, f, &types.QueryOptions{Select: []string{Prop, propKind}, Allow: query.TableScan, PageSize: sw.PageSize()}, at)
	if err != nil {
		return cursor, err
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Key.Partition == rows[0].Key.Partition {
			n++
		}
		if err := sw.partition(ctx, rows[:n]); err != nil {
			return cursor, err
		}
		rows = rows[n:]
	}
	if next != "" {
		next = before.Format(layout) + next
	}
	return next, ctx.Err()
}

// partition deletes those of the old rows of a partition that are not kept, after their epoch was closed.
func (sw *sweeper) partition(ctx context.Context, rows []fetch.Entry) error {
	var gone []keys.Key
	var epoch int64
	for i := range rows {
		version, _ := ParseVersion(rows[i].Text(Prop))
		event, _ := rows[i].Properties[propKind].(int32)
		entity := rows[i].Key.Partition + "\x00" + rows[i].Key.Row[:len(historyPrefix)+view.HashSize]
		newest := entity != sw.last
		if sw.last = entity; newest && types.Event(event) != types.Deleted && types.Event(event) != types.Expired {
			sw.Found(rows[i].Key, nil, func(r *types.SweepReport) { r.Skipped++ })
			continue
		}
		gone, epoch = append(gone, rows[i].Key), max(epoch, version.Epoch)
	}
	if len(gone) == 0 {
		return nil
	}
	if !sw.DryRun {
		if err := sw.closeUpTo(ctx, rows[0].Key.Partition, epoch); err != nil {
			return err
		}
	}
	failed := map[int]error{}
	if !sw.DryRun {
		b := txn.NewBulk(sw.rows, parallel, func(types.Progress) {}, func(i int, _ keys.Key, _ *txn.Op, err error) {
			if !errors.Is(err, azerr.ErrNotFound) {
				failed[i] = err
			}
		})
		b.Alone = true
		for _, key := range gone {
			op := &txn.Op{Kind: wire.Delete, ETag: "*", IfExists: true}
			op.At(key)
			b.Add(ctx, op)
		}
		b.Flush(ctx)
	}
	for i, key := range gone {
		sw.Found(key, failed[i], func(r *types.SweepReport) { r.Done++ })
	}
	return nil
}

// closeUpTo makes sure that an epoch of a partition is closed.
func (j *Journal) closeUpTo(ctx context.Context, partition string, epoch int64) error {
	for {
		r, err := j.readRoot(ctx, partition)
		if err != nil || r.epoch != epoch {
			return err
		}
		if err = j.closeEpoch(ctx, partition, r); !errors.Is(err, azerr.ErrConflict) {
			return err
		}
	}
}
