package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Start sets the position of a feed in each partition: before a snapshot of its entities, or before the next change.
func (j *Journal) Start(ctx context.Context, feed string, snapshot bool, opts *types.SweepOptions) (types.SweepReport, error) {
	ctx, run, err := sweep.Begin(ctx, fmt.Sprintf("start %s %t", feed, snapshot), opts, 0)
	f := &j.feeds[slices.IndexFunc(j.feeds, func(f view.Feed) bool { return f.Name == feed })]
	last := "\x00" // the partition whose rows were met last; no partition has this key
	page := func(ctx context.Context, _ int, cursor string) (string, error) {
		filter := query.RowKey.Eq(rootRow)
		if snapshot {
			filter = query.Filter{}
		}
		rows, next, err := fetch.PropertiesPage(ctx, j.rows.Client, query.And(filter, run.InPartitions()),
			&types.QueryOptions{Select: []string{"RowKey"}, Allow: query.TableScan, PageSize: run.PageSize()}, cursor)
		if err != nil {
			return cursor, err
		}
		var partitions []string
		for _, row := range rows {
			if row.Key.Partition != last {
				partitions = append(partitions, row.Key.Partition)
			}
			last = row.Key.Partition
		}
		err = calls.Each(ctx, len(partitions), parallel, func(ctx context.Context, i int) (err error) {
			if !run.DryRun {
				err = j.startIn(ctx, partitions[i], f, snapshot)
			}
			run.Found(keys.Key{Partition: partitions[i], Row: rootRow}, err, func(r *types.SweepReport) { r.Done++ })
			return ctx.Err()
		})
		return next, err
	}
	if err == nil {
		err = run.Tables(ctx, 1, j.base, func(context.Context) error { return nil }, page)
	}
	if err != nil {
		err = fmt.Errorf("start: %w", err)
	}
	return run.Report(), err
}

func (j *Journal) startIn(ctx context.Context, partition string, f *view.Feed, snapshot bool) error {
	r, err := j.readRoot(ctx, partition)
	if err != nil {
		return err
	}
	closed := max(r.epoch, 1)
	if _, err := j.Close(ctx, partition, closed); err != nil {
		return err
	}
	epoch, err := j.following(ctx, endOf(partition, closed))
	if err == nil && epoch <= closed {
		err = ErrSwept
	}
	if err != nil {
		return err
	}
	for try := 1; ; try++ { // a worker may store the position at the same time
		p, err := j.Position(ctx, partition, f.Name)
		if err != nil {
			return err
		}
		p.Epoch, p.After, p.Snapshot = epoch, "", snapshot
		err = j.Save(ctx, partition, f.Name, &p)
		switch {
		case err == nil && snapshot:
			return f.Wake(ctx, j.Table(), partition, closed, 0)
		case try == maxTries || !errors.Is(err, azerr.ErrConflict) && !errors.Is(err, azerr.ErrExists):
			return err
		}
		if err := calls.Pause(ctx, try); err != nil {
			return err
		}
	}
}
