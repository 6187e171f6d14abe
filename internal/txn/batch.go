package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// fewOps is the number of operations up to which comparing each row key is faster than
// a map of them.
const fewOps = 8

// Batch is an entity group transaction. The zero Batch refuses every operation; make
// one with [NewBatch]. It is not safe for concurrent use.
type Batch struct {
	// Writable is the rows that may be written.
	Writable Partitions

	client   *wire.Client
	changes  []Change
	bytes    int
	unsorted bool                // the row keys do not ascend
	rows     map[string]struct{} // the row keys, once they are many and unsorted
	chunks   chunks              // memory of encoded rows
	err      error
	unknown  bool // an earlier Commit had an unknown outcome
}

// NewBatch returns an empty transaction.
func NewBatch(client *wire.Client) *Batch { return &Batch{client: client} }

// Begin begins the span of a Commit.
func (b *Batch) Begin(ctx context.Context) (context.Context, *wire.Span) {
	if b.client == nil {
		return ctx, nil
	}
	return b.client.Begin(ctx, "table.", "batch")
}

var errNoTable = azerr.Errorf("batch: table: %w", azerr.ErrNil)

// Err is the error of the first operation that was refused.
func (b *Batch) Err() error { return b.err }

// Len is the number of operations.
func (b *Batch) Len() int { return len(b.changes) }

// Changes are the operations so far. They must not be changed.
func (b *Batch) Changes() []Change { return b.changes }

// Grow makes room for n more operations.
func (b *Batch) Grow(n int) { b.changes = slices.Grow(b.changes, n) }

// Add prepares op with the rules of t, and adds it. After the first error it does
// nothing.
func (b *Batch) Add(t *Table, op *Op) {
	if b.err == nil && (b.client == nil || t == nil) {
		b.err = errNoTable
	}
	if b.err == nil {
		c, err := t.Prepare(op, b.room(t.Codec.RowSize()))
		b.AddChange(c, err)
	}
}

// AddOther is Add of a row for which another Table may be used, of the same table of the service.
func (b *Batch) AddOther(t *Table, op *Op) {
	if b.err != nil || b.client == nil || t == nil || b.client.SameTable(t.Client) {
		b.Add(t, op)
		return
	}
	c, err := t.Prepare(op, nil)
	if err == nil {
		err = azerr.Errorf("%w: another table than that of the transaction", azerr.ErrMixedPartitions)
	}
	b.AddChange(c, err)
}

// AddChange adds a prepared change, or records err, with which its preparation failed.
func (b *Batch) AddChange(c Change, err error) {
	if err == nil {
		err = b.check(&c)
	}
	if err != nil {
		b.err = &types.BatchError{Index: len(b.changes), Op: c.Op, Key: c.Key(), Err: err}
		return
	}
	b.chunks.keep(c.Body)
	if len(b.changes) == fewOps && cap(b.changes) < wire.MaxBatchOps {
		b.changes = append(make([]Change, 0, wire.MaxBatchOps), b.changes...)
	}
	b.unsorted = b.unsorted || !b.ascends(c.RowKey)
	b.changes = append(b.changes, c)
	switch {
	case b.rows != nil:
		b.rows[c.RowKey] = struct{}{}
	case b.unsorted && len(b.changes) > fewOps:
		b.rows = make(map[string]struct{}, wire.MaxBatchOps)
		for i := range b.changes {
			b.rows[b.changes[i].RowKey] = struct{}{}
		}
	}
}

// room returns an empty slice to encode a row into. From the third row on, rows share
// chunks of memory.
func (b *Batch) room(size int64) []byte {
	if len(b.changes) < 2 {
		return make([]byte, 0, size)
	}
	return b.chunks.room(size)
}

// ascends reports whether row is greater than the last row key.
func (b *Batch) ascends(row string) bool {
	n := len(b.changes)
	return n == 0 || row > b.changes[n-1].RowKey
}

func (b *Batch) has(row string) bool {
	switch {
	case b.rows != nil:
		_, ok := b.rows[row]
		return ok
	case !b.unsorted && b.ascends(row):
		return false // rows mostly come sorted
	}
	for i := range b.changes {
		if b.changes[i].RowKey == row {
			return true
		}
	}
	return false
}

// check applies the rules of a transaction to one more change.
func (b *Batch) check(c *Change) error {
	switch {
	case b.unknown:
		// The rows of the first attempt would be taken as proof for the new operation too.
		return fmt.Errorf("%w: of the operations before this one, which therefore cannot be added", azerr.ErrOutcomeUnknown)
	case len(b.changes) >= wire.MaxBatchOps:
		return fmt.Errorf("%w: more than %d operations in one transaction", azerr.ErrTooLarge, wire.MaxBatchOps)
	case len(b.changes) > 0 && b.changes[0].PartitionKey != c.PartitionKey, b.Writable.Check(c.PartitionKey) != nil:
		return azerr.ErrMixedPartitions
	case b.has(c.RowKey):
		return azerr.ErrDuplicateRow
	}
	size := wire.BatchBytes(&c.Write)
	if b.bytes+size > wire.MaxBatchBytes {
		return fmt.Errorf("%w: transaction of more than %d bytes", azerr.ErrTooLarge, wire.MaxBatchBytes)
	}
	b.bytes += size
	return nil
}

// remove removes operation i.
func (b *Batch) remove(i int) {
	c := &b.changes[i]
	delete(b.rows, c.RowKey)
	b.bytes -= wire.BatchBytes(&c.Write)
	b.changes = slices.Delete(b.changes, i, i+1)
}

// splitOff removes all operations except the first n, and returns them as another
// transaction. Their rows must not be in the memory of b.
func (b *Batch) splitOff(n int) *Batch {
	tail := NewBatch(b.client)
	for _, c := range b.changes[n:] {
		tail.AddChange(c, nil)
	}
	for len(b.changes) > n {
		b.remove(len(b.changes) - 1)
	}
	return tail
}

// Commit carries out the transaction and returns the new ETags in the order of the
// operations, "" for deletes. If the response leaves the outcome open it reads the rows:
// see [Resolve]. An empty transaction sends nothing. After success the Batch is empty
// and refuses everything with [azerr.ErrCommitted].
func (b *Batch) Commit(ctx context.Context) ([]string, error) {
	if b.err == nil && b.client == nil {
		b.err = errNoTable
	}
	if b.err != nil {
		return nil, b.err
	}
	if len(b.changes) == 0 {
		return nil, ctx.Err()
	}
	etags, err := b.client.Batch(ctx, Writes(b.changes))
	if err != nil {
		etags, err = b.failed(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	for i := range b.changes {
		b.changes[i].stored(etags[i])
	}
	b.chunks.release()
	*b = Batch{client: b.client, err: azerr.ErrCommitted}
	return etags, nil
}

// Writes returns the writes of changes.
func Writes(changes []Change) []*wire.Write {
	writes := make([]*wire.Write, len(changes))
	for i := range changes {
		writes[i] = &changes[i].Write
	}
	return writes
}

func (b *Batch) failed(ctx context.Context, err error) ([]string, error) {
	failed := &types.BatchError{Index: -1, Op: "batch", Err: err}
	var f *wire.BatchFailure
	if errors.As(err, &f) {
		failed.Code, failed.Status, failed.Err = f.Cause.Code, f.Cause.Status, f.Cause
		if f.Index >= 0 && f.Index < len(b.changes) {
			c := &b.changes[f.Index]
			failed.Index, failed.Op, failed.Key = f.Index, c.Op, c.Key()
		}
	}
	var e *types.Error
	if errors.As(err, &e) {
		failed.Code, failed.Status = e.Code, e.Status
		if b.unknown { // an attempt of an earlier Commit may still arrive
			late := *e
			late.Unsure, late.Unanswered = true, true
			e = &late
		}
		if e.Unsure {
			etags, err := Resolve(ctx, b.client, b.changes, e)
			if err == nil {
				return etags, nil
			}
			failed.Err = err
			b.unknown = errors.Is(err, azerr.ErrOutcomeUnknown)
		}
	}
	return nil, failed
}
