package journal

import (
	"context"
	"errors"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// feedPage is [sweeper.page] of what feeds read: it deletes old changes, and puts messages that were lost.
func (sw *sweeper) feedPage(ctx context.Context, cursor string) (next string, err error) {
	old, at, err := sw.cutoff(cursor, sw.feedKeep)
	if err != nil {
		return cursor, err
	}
	isOld := query.Or(query.Prop(propEpoch).Lt(int64(0)), query.And(query.Prop(propEpoch).Gt(int64(0)), query.Timestamp.Lt(old))) // or was marked
	ends := query.And(query.RowKey.Within(keys.Prefix(feedPrefix)), isOld)
	rows, next, err := fetch.PropertiesPage(ctx, sw.rows.Client, query.And(query.Or(query.RowKey.Eq(rootRow), ends), sw.InPartitions()),
		&types.QueryOptions{Select: []string{propEpoch, "Timestamp"}, Allow: query.TableScan, PageSize: sw.PageSize()}, at)
	if err != nil {
		return cursor, err
	}
	var partitions [][]fetch.Entry // epochs of a partition are removed in their order, because positions move so
	for rest := rows; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Key.Partition == rest[0].Key.Partition {
			n++
		}
		partitions, rest = append(partitions, rest[:n]), rest[n:]
	}
	err = calls.Each(ctx, len(partitions), parallel, func(ctx context.Context, i int) error {
		for _, row := range partitions[i] {
			epoch, _ := row.Properties[propEpoch].(int64)
			found, err := true, error(nil)
			if row.Key.Row == rootRow {
				found, err = sw.wake(ctx, row.Key.Partition, epoch, row.Timestamp.Before(old))
			} else {
				err = sw.removeEpoch(ctx, row.Key, epoch)
			}
			if found || err != nil {
				sw.Found(row.Key, err, func(r *types.SweepReport) { r.Done++ })
			}
			if err != nil {
				break // a position may not have moved
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return cursor, err
	}
	return cursorAt(old, next), nil
}

// wake puts a message for each feed that has not read all changes of a partition. old means that the epoch is to be closed if it has
// changes, so that a later sweep deletes them, also if no feed reads them.
func (sw *sweeper) wake(ctx context.Context, partition string, epoch int64, old bool) (found bool, err error) {
	f := query.And(query.PartitionKey.Eq(partition), query.RowKey.Within(keys.Prefix(epochPrefix(epoch))))
	rows := 0 // the marker, and perhaps a change
	for _, err := range fetch.Properties(ctx, sw.rows.Client, f, &types.QueryOptions{Select: []string{"RowKey"}, Limit: 2}) {
		if rows++; err != nil {
			return false, err
		}
	}
	for i := range sw.feeds {
		p, err := sw.Position(ctx, partition, sw.feeds[i].Name)
		if err != nil {
			return found, err
		}
		if rows < 2 && p.Epoch >= epoch && !p.Snapshot {
			continue
		}
		last := epoch
		if rows < 2 {
			last--
		}
		if last < 1 {
			continue
		}
		if found = true; !sw.DryRun {
			if err := sw.feeds[i].Wake(ctx, sw.Table(), partition, last, 0); err != nil {
				return found, err
			}
		}
	}
	if old && rows > 1 && !sw.DryRun {
		found = true
		_, err = sw.Close(ctx, partition, epoch)
	}
	return found, err
}

// removeEpoch deletes the changes of a closed epoch, and its end row last, so that a sweep that dies is continued by the next one. It
// marks the end row before: a feed does not deliver what it has read of the epoch then. A feed without a position gets one, so that it
// finds that it has missed the epoch.
func (sw *sweeper) removeEpoch(ctx context.Context, end keys.Key, next int64) error {
	epoch, err := epochIn(end)
	if err != nil || sw.DryRun {
		return err
	}
	f := query.And(query.PartitionKey.Eq(end.Partition), query.RowKey.Within(keys.Prefix(epochPrefix(epoch))))
	var rows []keys.Key
	for e, err := range fetch.Properties(ctx, sw.rows.Client, f, &types.QueryOptions{Select: []string{"RowKey"}}) {
		if err != nil {
			return err
		}
		if e.Key != end {
			rows = append(rows, e.Key)
		}
	}
	for i := range sw.feeds {
		p, err := sw.Position(ctx, end.Partition, sw.feeds[i].Name)
		switch {
		case err != nil:
			return err
		case p.Epoch == epoch && len(rows) == 0 && next > 0: // it has missed nothing
			p.Epoch, p.After = next, ""
		case p.Epoch == 0 && len(rows) > 0:
			p.Epoch = epoch
		default:
			continue
		}
		if err := sw.Save(ctx, end.Partition, sw.feeds[i].Name, &p); err != nil && !errors.Is(err, azerr.ErrExists) && !errors.Is(err, azerr.ErrConflict) {
			return err
		}
	}
	if next > 0 && len(rows) > 0 {
		mark := put(wire.Merge, end, edm.Properties{propEpoch: -next})
		mark.ETag = "*"
		if _, err := sw.commit(ctx, mark); errors.Is(err, azerr.ErrNotFound) {
			return nil // another sweep has removed it
		} else if err != nil {
			return err
		}
	}
	for _, failed := range sw.delete(ctx, rows) {
		return failed
	}
	for _, failed := range sw.delete(ctx, []keys.Key{end}) {
		return failed
	}
	return ctx.Err()
}
