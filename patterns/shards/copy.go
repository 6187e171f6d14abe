package shards

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// markerRow is the row key of the row that the transactions of a copy change. It exists in the
// new account while the partition is copied. Row keys that begin with ~azp are reserved.
const markerRow = "~azpmove"

// marker is the row at markerRow.
type marker struct {
	PartitionKey, RowKey string
	Run                  string
}

// versions identify the versions of all rows of each partition, without the marker.
type versions map[string][sha256.Size]byte

// add adds a row. The rows of a partition must come in key order.
func (v versions) add(row patterns.Item[patterns.Row]) {
	before := v[row.Key.Partition]
	v[row.Key.Partition] = sha256.Sum256(fmt.Appendf(before[:], "%q %q", row.Key.Row, row.ETag))
}

// unchanged reports whether the partitions of the step have the versions that were copied, at an
// instant between two reads of their old accounts.
func (m *run) unchanged(ctx context.Context, d *seen, copied versions) (bool, error) {
	for range 2 {
		stored := versions{}
		err := m.keys(ctx, d, d.Move.Open, d.Move.Frozen, func(account string, row patterns.Item[patterns.Row]) bool {
			if d.frozen(row.Key.Partition) && d.reader(row.Key.Partition) == account && row.Key.Row != markerRow {
				stored.add(row)
			}
			return true
		})
		if err != nil || !maps.Equal(copied, stored) {
			return false, err
		}
	}
	return true, nil
}

// copy copies the partitions of the step to their new accounts, and returns the versions of the
// rows that it has copied. Before it deletes the rows that accounts do not own.
func (m *run) copy(ctx context.Context, d *seen) (versions, error) {
	found, err := m.clean(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("delete moved rows: %w", err)
	}
	partitions, all := slices.Collect(maps.Keys(found)), versions{}
	return all, calls.Each(ctx, len(partitions), m.opts.Parallel, func(ctx context.Context, i int) error {
		return m.copyPartition(ctx, d, partitions[i], all)
	})
}

// copyPartition makes the partition in its new account equal to the one in its old account, unless
// a late write changes that meanwhile, and adds the versions of the rows to all.
func (m *run) copyPartition(ctx context.Context, d *seen, partition string, all versions) error {
	from, err := m.rows.of(d.reader(partition))
	if err != nil {
		return err
	}
	to, err := m.rows.of(d.Move.To.owner(partition))
	if err != nil {
		return err
	}
	markers, err := patterns.NewTable[marker](to.Client(), nil)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		c := &copying{run: m, seen: d, partition: partition, from: from, to: to, markers: markers}
		copied := versions{}
		rows, err := c.do(ctx, copied)
		if err == nil {
			m.mu.Lock()
			maps.Copy(all, copied)
			m.mu.Unlock()
			m.report(rows, 0)
			return nil
		}
		retry := errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrNotFound) ||
			errors.Is(err, patterns.ErrOutcomeUnknown) && ctx.Err() == nil
		if !retry || errors.Is(err, ErrBusy) || try == copyTries {
			return fmt.Errorf("copy partition: %w", err)
		}
		if err := calls.Pause(ctx, try); err != nil {
			return err
		}
	}
}

// copying is one try to copy a partition. Each of its transactions requires, and changes, the
// version of the marker that the transaction before it made. So each is applied at most once,
// in order, and never after the marker was deleted or another try has begun, however late a
// request arrives.
type copying struct {
	*run
	*seen
	partition string
	from, to  *patterns.Table[patterns.Row]
	markers   *patterns.Table[marker]
	mark      patterns.Item[marker]
}

func (c *copying) do(ctx context.Context, copied versions) (rows int, err error) {
	if err := c.begin(ctx); err != nil {
		return 0, err
	}
	// An earlier try, or a late write of an earlier time, may have left rows in the new account.
	err = c.pass(ctx, c.to, keysOnly(), func(item patterns.Item[patterns.Row]) patterns.Op[patterns.Row] {
		return patterns.DeleteOp[patterns.Row](item.Key, item.ETag)
	})
	if err != nil {
		return 0, err
	}
	err = c.pass(ctx, c.from, nil, func(item patterns.Item[patterns.Row]) patterns.Op[patterns.Row] {
		rows++
		copied.add(item)
		return patterns.CopyOp(item)
	})
	if err != nil {
		return 0, err
	}
	return rows, c.markers.Delete(ctx, c.mark.Key, c.mark.ETag)
}

// pass reads the partition in t, without the marker, and sends the operation that op returns for
// each row.
func (c *copying) pass(ctx context.Context, t *patterns.Table[patterns.Row], opts *patterns.QueryOptions, op func(patterns.Item[patterns.Row]) patterns.Op[patterns.Row]) error {
	var ops []patterns.Op[patterns.Row]
	for item, err := range t.Query(ctx, query.PartitionKey.Eq(c.partition), opts) {
		if err != nil {
			return err
		}
		if item.Key.Row == markerRow {
			continue
		}
		if ops = append(ops, op(item)); len(ops) == patterns.MaxBatchOps-1 {
			if err := c.send(ctx, ops); err != nil {
				return err
			}
			ops = ops[:0]
		}
	}
	return c.send(ctx, ops)
}

// begin makes the marker a new version that only this try knows. A run that was taken over
// cannot begin: the next run waits for the end of its lease.
func (c *copying) begin(ctx context.Context) error {
	mark := marker{PartitionKey: c.partition, RowKey: markerRow, Run: c.id}
	var err error
	if c.mark, err = c.markers.Insert(ctx, &mark); errors.Is(err, patterns.ErrExists) {
		if c.mark, err = c.markers.Get(ctx, keys.Key{Partition: c.partition, Row: markerRow}); err == nil {
			c.mark.Value = mark
			c.mark, err = c.markers.Replace(ctx, c.mark)
		}
	}
	if err != nil {
		return err
	}
	return c.mine(ctx, c.seen)
}

// send carries out ops in one transaction, or in several if they are too large for one.
func (c *copying) send(ctx context.Context, ops []patterns.Op[patterns.Row]) error {
	if len(ops) == 0 {
		return nil
	}
	b := c.markers.Batch().Merge(c.mark)
	for _, op := range ops {
		patterns.AddTo(b, c.to, op)
	}
	result, err := b.Commit(ctx)
	switch {
	case errors.Is(err, patterns.ErrTooLarge) && len(ops) > 1:
		half := len(ops) / 2
		if err := c.send(ctx, ops[:half]); err != nil {
			return err
		}
		return c.send(ctx, ops[half:])
	case err != nil:
		return err
	}
	c.mark.ETag = result.ETags[0]
	return nil
}

// clean deletes the rows that accounts do not own, up to the end of the step: those of partitions
// that have moved, and what late writes and earlier runs have left. It returns the partitions of
// the step that have rows in any account.
func (m *run) clean(ctx context.Context, d *seen) (step map[string]bool, err error) {
	step = map[string]bool{}
	found := map[string][]patterns.Op[patterns.Row]{}
	err = m.keys(ctx, d, d.Move.Clean, d.Move.Frozen, func(account string, row patterns.Item[patterns.Row]) bool {
		if d.frozen(row.Key.Partition) {
			step[row.Key.Partition] = true
		}
		if d.reader(row.Key.Partition) != account {
			found[account] = append(found[account], patterns.DeleteOp[patterns.Row](row.Key, row.ETag))
		}
		return true
	})
	// Only rows that were found while this run was not taken over may be deleted: later, the
	// account may own the partition again.
	if err == nil {
		err = m.mine(ctx, d)
	}
	for account, ops := range found {
		if err == nil {
			err = m.remove(ctx, account, ops)
		}
	}
	return step, err
}

// remove deletes the versions of the rows that were found. A row that has changed or gone since
// is one that a late write has changed; it is left alone.
func (m *run) remove(ctx context.Context, account string, ops []patterns.Op[patterns.Row]) error {
	table, err := m.rows.of(account)
	if err != nil {
		return err
	}
	report, err := table.Bulk(ctx, slices.Values(ops), &patterns.BulkOptions{Parallel: m.opts.Parallel})
	m.report(0, report.Done)
	for _, f := range report.Failures {
		if !errors.Is(f.Err, patterns.ErrConflict) && !errors.Is(f.Err, patterns.ErrNotFound) {
			return f.Err
		}
	}
	if len(report.Failures) > 0 {
		err = nil
	}
	return err
}
