package shards

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/parallel"
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

// stored returns the versions of the partitions of the step in their old accounts.
func (m *run) stored(ctx context.Context, d *seen) (versions, error) {
	found := make([]versions, len(d.Config.Accounts))
	err := parallel.Each(ctx, len(found), len(found), func(ctx context.Context, i int) error {
		found[i] = versions{}
		account := d.Config.Accounts[i].Name
		return m.keys(ctx, d, account, d.Move.Open, d.Move.Frozen, func(row patterns.Item[patterns.Row]) bool {
			if p := row.Key.Partition; d.frozen(p) && d.Config.owner(p) == account && row.Key.Row != markerRow {
				found[i].add(row)
			}
			return true
		})
	})
	all := versions{}
	for _, f := range found {
		maps.Copy(all, f)
	}
	return all, err
}

// copy copies the partitions of the step to their new accounts, and returns the versions of the
// rows that it has copied.
func (m *run) copy(ctx context.Context, d *seen) (versions, error) {
	found := map[string]bool{}
	for _, account := range d.members() {
		err := m.keys(ctx, d, account, d.Move.Open, d.Move.Frozen, func(row patterns.Item[patterns.Row]) bool {
			p := row.Key.Partition
			from, to := d.Config.owner(p), d.Move.To.owner(p)
			if from != to && (account == from || account == to) {
				found[p] = true
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	partitions := slices.Collect(maps.Keys(found))
	all := versions{}
	return all, parallel.Each(ctx, len(partitions), m.opts.Parallel, func(ctx context.Context, i int) error {
		copied, err := m.copyPartition(ctx, d, partitions[i])
		m.mu.Lock()
		defer m.mu.Unlock()
		maps.Copy(all, copied)
		return err
	})
}

// copyPartition makes the partition in its new account equal to the one in its old account, unless
// a late write changes that meanwhile. It returns the versions of the rows.
func (m *run) copyPartition(ctx context.Context, d *seen, partition string) (versions, error) {
	from, err := m.rows.of(d.Config.owner(partition))
	if err != nil {
		return nil, err
	}
	to, err := m.rows.of(d.Move.To.owner(partition))
	if err != nil {
		return nil, err
	}
	markers, err := patterns.NewTable[marker](to.Client(), nil)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		c := &copying{run: m, seen: d, partition: partition, from: from, to: to, markers: markers, copied: versions{}}
		rows, err := c.do(ctx)
		if err == nil {
			m.report(func(p *Progress) { p.Partitions++; p.Rows += rows })
			return c.copied, nil
		}
		retry := errors.Is(err, patterns.ErrConflict) || errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrNotFound) ||
			errors.Is(err, patterns.ErrOutcomeUnknown) && ctx.Err() == nil
		if !retry || errors.Is(err, ErrBusy) || try == copyTries {
			return nil, fmt.Errorf("copy partition: %w", err)
		}
		if err := parallel.Pause(ctx, try); err != nil {
			return nil, err
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
	copied    versions
}

func (c *copying) do(ctx context.Context) (rows int, err error) {
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
		c.copied.add(item)
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

// clean deletes the rows of partitions that have moved from their old account,
// and rows in the same key range that late writes have left in accounts that do not own them.
func (m *run) clean(ctx context.Context, d *seen) error {
	for _, account := range d.Config.Accounts {
		table, err := m.rows.of(account.Name)
		if err != nil {
			return err
		}
		found := map[keys.Key]azcore.ETag{}
		err = m.keys(ctx, d, account.Name, d.Move.Clean, d.Move.Open, func(row patterns.Item[patterns.Row]) bool {
			if d.Move.To.owner(row.Key.Partition) != account.Name {
				found[row.Key] = row.ETag
			}
			return true
		})
		// Only rows that were found while this run was not taken over may be deleted: later, the
		// account may own the partition again.
		if err == nil {
			err = m.mine(ctx, d)
		}
		if err == nil {
			err = m.remove(ctx, table, found)
		}
		if err != nil {
			return fmt.Errorf("delete moved rows: %w", err)
		}
	}
	return nil
}

// remove deletes the versions of the rows that were found. A row that has changed or gone since
// is one that a late write has changed; it is left alone.
func (m *run) remove(ctx context.Context, table *patterns.Table[patterns.Row], found map[keys.Key]azcore.ETag) error {
	report, err := table.Bulk(ctx, func(yield func(patterns.Op[patterns.Row]) bool) {
		for key, etag := range found {
			if !yield(patterns.DeleteOp[patterns.Row](key, etag)) {
				return
			}
		}
	}, &patterns.BulkOptions{Parallel: m.opts.Parallel})
	m.report(func(p *Progress) { p.Deleted += report.Applied })
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
