package shards

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

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

// copied identifies the version of a row in the old account, and that of its copy.
type copied struct{ from, to azcore.ETag }

// stored returns the versions of the partitions of the step, in their old accounts.
func (m *run) stored(ctx context.Context, d *seen) (versions, error) {
	stored := versions{}
	return stored, m.keys(ctx, d, d.Move.Open, d.Move.Frozen, func(account string, row patterns.Item[patterns.Row]) bool {
		if p := row.Key.Partition; d.moves(p) && d.reader(p) == account && row.Key.Row != markerRow {
			stored.add(row)
		}
		return true
	})
}

// copy copies partitions to their new accounts.
func (m *run) copy(ctx context.Context, d *seen, partitions []string) error {
	return calls.Each(ctx, len(partitions), m.opts.Parallel, func(ctx context.Context, i int) error {
		return m.copyPartition(ctx, d, partitions[i])
	})
}

// copyPartition makes the partition in its new account equal to the one in its old account, unless
// a write changes that meanwhile, and records the versions of the rows. Of a partition that it has copied
// already, it copies what has changed.
func (m *run) copyPartition(ctx context.Context, d *seen, partition string) error {
	to := &d.Move.To
	if d.Move.Back {
		to = &d.Config
	}
	old, unknown := m.rows.of(d.reader(partition))
	copies, err := m.rows.of(to.owner(partition))
	if err := cmp.Or(unknown, err); err != nil {
		return err
	}
	markers, err := patterns.NewTable[marker](copies.Client(), nil)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		m.mu.Lock()
		known := m.known[partition]
		delete(m.known, partition)
		m.mu.Unlock()
		c := &copying{run: m, seen: d, partition: partition, from: old, to: copies, markers: markers, known: known}
		read := versions{}
		err := c.do(ctx, read)
		if err == nil {
			m.mu.Lock()
			delete(m.copied, partition)
			maps.Copy(m.copied, read)
			m.known[partition] = c.known
			m.mu.Unlock()
			m.report(c.rows, 0)
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
	known     map[string]copied // rows of the new account, by row key; nil before the first copy
	rows      int               // that were copied
	next      []change          // the next transaction
}

// change changes a row of the new account.
type change struct {
	op patterns.Op[patterns.Row]
	of patterns.Item[patterns.Row] // the row that it copies, if it copies one
}

func (c *copying) do(ctx context.Context, read versions) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	if c.known == nil {
		// An earlier try, or a late write of an earlier time, may have left rows in the new account.
		c.known = map[string]copied{}
		err := c.pass(ctx, c.to, keysOnly(), func(item patterns.Item[patterns.Row]) error {
			return c.add(ctx, change{op: patterns.DeleteOp[patterns.Row](item.Key, item.ETag)})
		})
		if err != nil {
			return err
		}
	}
	left := maps.Clone(c.known)
	err := c.pass(ctx, c.from, nil, func(item patterns.Item[patterns.Row]) error {
		read.add(item)
		was, ok := left[item.Key.Row]
		delete(left, item.Key.Row)
		switch {
		case !ok:
			return c.add(ctx, change{patterns.CopyOp(item), item})
		case was.from == item.ETag:
			return nil
		}
		replacement := item
		replacement.ETag = was.to
		return c.add(ctx, change{patterns.ReplaceOp(replacement).At(item.Key), item})
	})
	for row, was := range left { // deleted since
		if err == nil {
			delete(c.known, row)
			err = c.add(ctx, change{op: patterns.DeleteOp[patterns.Row](keys.Key{Partition: c.partition, Row: row}, was.to)})
		}
	}
	if err == nil {
		err = c.flush(ctx)
	}
	if err != nil {
		return err
	}
	return c.markers.Delete(ctx, c.mark.Key, c.mark.ETag)
}

// pass reads the partition in t, without the marker, and calls f with each row.
func (c *copying) pass(ctx context.Context, t *patterns.Table[patterns.Row], opts *patterns.QueryOptions, f func(patterns.Item[patterns.Row]) error) error {
	for item, err := range t.Query(ctx, query.PartitionKey.Eq(c.partition), opts) {
		if err == nil && item.Key.Row != markerRow {
			err = f(item)
		}
		if err != nil {
			return err
		}
	}
	return c.flush(ctx)
}

// add adds to the next transaction.
func (c *copying) add(ctx context.Context, next change) error {
	if c.next = append(c.next, next); len(c.next) == patterns.MaxBatchOps-1 {
		return c.flush(ctx)
	}
	return nil
}

func (c *copying) flush(ctx context.Context) error {
	defer func() { c.next = c.next[:0] }()
	return c.send(ctx, c.next)
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

// send makes changes in one transaction, or in several if they are too large for one.
func (c *copying) send(ctx context.Context, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	b := c.markers.Batch().Merge(c.mark)
	for _, next := range changes {
		patterns.AddTo(b, c.to, next.op)
	}
	result, err := b.Commit(ctx)
	if half := len(changes) / 2; errors.Is(err, patterns.ErrTooLarge) && half > 0 {
		if err = c.send(ctx, changes[:half]); err == nil {
			err = c.send(ctx, changes[half:])
		}
		return err
	}
	if err != nil {
		return err
	}
	c.mark.ETag = result.ETags[0]
	for i, next := range changes {
		if item := next.of; item.Key != (keys.Key{}) {
			c.rows++
			c.known[item.Key.Row] = copied{item.ETag, result.ETags[i+1]}
		}
	}
	return nil
}

// clean deletes the rows that accounts do not own, from those of the last step to goal: those of partitions
// that have moved, and what late writes and earlier runs have left. It returns the partitions of
// the step up to goal that have rows in any account.
func (m *run) clean(ctx context.Context, d *seen, goal bound) ([]string, error) {
	step := map[string]bool{}
	found := map[string][]patterns.Op[patterns.Row]{}
	err := m.keys(ctx, d, d.Move.Clean, goal, func(account string, row patterns.Item[patterns.Row]) bool {
		p := row.Key.Partition
		if d.moves(p) && goal.passed(p) != d.Move.Open.passed(p) {
			step[p] = true
		}
		if d.reader(p) != account {
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
	return slices.Collect(maps.Keys(step)), err
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
