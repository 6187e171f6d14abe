package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// parallel is how many requests of a sweep, or of a transaction, are in flight.
const parallel = 8

// sweeper is a sweep of the rows of one view.
type sweeper struct {
	*sweep.Run
	*Journal
	name     string
	feedKeep time.Duration
	last     string // the entity whose newest old row was met
}

// Sweep deletes the rows of the named view that are older than a time, except the newest of these of each entity, which has the state of
// the entity at that time. A deletion goes when nothing older is left, so in a later sweep. Of the rows that feeds read, it deletes those of
// epochs that were closed longer than feedKeep ago, and it puts the messages of feeds that were lost.
func (j *Journal) Sweep(ctx context.Context, name string, keep, feedKeep time.Duration, opts *types.SweepOptions) (types.SweepReport, error) {
	ctx, run, err := sweep.Begin(ctx, "journal "+name, opts, keep)
	sw := &sweeper{Run: run, Journal: j, name: name, feedKeep: feedKeep}
	tables := 1
	if len(j.feeds) > 0 {
		tables = 2
	} else if err == nil && sw.OlderThan == 0 {
		err = azerr.Errorf("%w: SweepOptions.OlderThan: it is zero, and so is Keep of the journal", azerr.ErrBadOption)
	}
	if err == nil {
		err = run.Tables(ctx, tables, j.base, func(ctx context.Context) error { return txn.LearnTime(ctx, j.rows.Client) }, sw.page)
	}
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return sw.Report(), err
}

// page processes a page of old rows. A cursor is the time before which rows are old, and that of the page.
func (sw *sweeper) page(ctx context.Context, table int, cursor string) (next string, err error) {
	if table == 1 {
		return sw.feedPage(ctx, cursor)
	}
	if sw.OlderThan == 0 {
		return "", nil // the history is kept
	}
	before, at, err := sw.cutoff(cursor, sw.OlderThan)
	if err != nil {
		return cursor, err
	}
	f := query.And(query.RowKey.Within(keys.Prefix(historyPrefix)), query.Timestamp.Lt(before), sw.InPartitions())
	rows, next, err := fetch.PropertiesPage(ctx, sw.rows.Client, f, &types.QueryOptions{Select: []string{Prop, propKind, view.PropView}, Allow: query.TableScan, PageSize: sw.PageSize()}, at)
	if err != nil {
		return cursor, err
	}
	var all []*expired
	for i := range rows {
		sw.decide(&all, rows, i, next == "")
	}
	if err := calls.Each(ctx, len(all), parallel, func(ctx context.Context, i int) error { return sw.remove(ctx, all[i]) }); err != nil {
		return cursor, err
	}
	return cursorAt(before, next), ctx.Err()
}

// cutoffLayout is how a cursor has the time before which rows are old. All pages of a sweep have the same.
const cutoffLayout = "2006-01-02T15:04:05.000Z"

// cutoff returns the time before which rows are old, and the cursor of the page.
func (sw *sweeper) cutoff(cursor string, age time.Duration) (before time.Time, at string, err error) {
	now, _ := sw.rows.Client.ServiceTime()
	if cursor == "" {
		return now.Add(-age).Truncate(time.Millisecond), "", nil
	}
	if before, err = time.Parse(cutoffLayout, cursor[:min(len(cursor), len(cutoffLayout))]); err != nil {
		return before, "", azerr.ErrBadCursor
	}
	return before, cursor[len(cutoffLayout):], nil
}

func cursorAt(before time.Time, next string) string {
	if next == "" {
		return ""
	}
	return before.Format(cutoffLayout) + next
}

// expired are the rows of a partition that are to be deleted.
type expired struct {
	partition string
	epoch     int64 // the latest of them
	rows      []keys.Key
}

// decide adds row i of a page to those to be deleted, unless it is kept. Rows of an entity follow each other, the newest first. The
// newest old row is kept, because it has the state at that time: also a deletion, as long as there are older rows, which would
// then seem to be that state if this sweep ends before it has deleted them. end means that no further row follows those of the page.
func (sw *sweeper) decide(all *[]*expired, rows []fetch.Entry, i int, end bool) {
	row := &rows[i]
	entity := entityOf(row.Key)
	newest := entity != sw.last
	if sw.last = entity; row.Text(view.PropView) != sw.name {
		return // of another Store, or of a journal that had another name
	}
	event, _ := row.Properties[propKind].(int32)
	deleted := types.Event(event) == types.Deleted || types.Event(event) == types.Expired
	alone := i+1 < len(rows) && entityOf(rows[i+1].Key) != entity || i+1 == len(rows) && end
	if newest && !(deleted && alone) {
		sw.Found(row.Key, nil, func(r *types.SweepReport) { r.Skipped++ })
		return
	}
	if n := len(*all); n == 0 || (*all)[n-1].partition != row.Key.Partition {
		*all = append(*all, &expired{partition: row.Key.Partition})
	}
	last := (*all)[len(*all)-1]
	version, _ := ParseVersion(row.Text(Prop))
	last.epoch = max(last.epoch, version.Epoch)
	last.rows = append(last.rows, row.Key)
}

// entityOf returns what the rows of an entity have in common.
func entityOf(row keys.Key) string {
	return row.Partition + "\x00" + row.Row[:min(len(row.Row), len(historyPrefix)+view.HashSize)]
}

// remove deletes rows of a partition after their epoch was closed.
func (sw *sweeper) remove(ctx context.Context, e *expired) error {
	var failed map[int]error
	if !sw.DryRun {
		if err := sw.closeUpTo(ctx, e.partition, e.epoch); err != nil {
			return err
		}
		failed = sw.delete(ctx, e.rows)
	}
	for i, key := range e.rows {
		sw.Found(key, failed[i], func(r *types.SweepReport) { r.Done++ })
	}
	return nil
}

// delete deletes rows of a partition, and returns the errors by their index.
func (sw *sweeper) delete(ctx context.Context, rows []keys.Key) (failed map[int]error) {
	failed = map[int]error{}
	b := txn.NewBulk(sw.rows, 1, func(types.Progress) {}, func(i int, _ keys.Key, _ *txn.Op, err error) {
		if !errors.Is(err, azerr.ErrNotFound) {
			failed[i] = err
		}
	})
	b.Alone = true
	for _, key := range rows {
		op := &txn.Op{Kind: wire.Delete, ETag: "*", IfExists: true}
		op.At(key)
		b.Add(ctx, op)
	}
	b.Flush(ctx)
	return failed
}

// closeUpTo makes sure that an epoch of a partition is closed.
func (j *Journal) closeUpTo(ctx context.Context, partition string, epoch int64) error {
	for {
		r, err := j.readRoot(ctx, partition)
		switch {
		case err != nil:
			return err
		case r.epoch == 0:
			return fmt.Errorf("root of a journal: %w", azerr.ErrNotFound)
		case r.epoch > epoch:
			return nil
		}
		if closed, err := j.Close(ctx, partition, r.epoch); err != nil || closed >= epoch {
			return err
		}
	}
}
