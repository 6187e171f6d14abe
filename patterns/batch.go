package patterns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Limits of an entity group transaction, checked before it is sent.
//
// https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions
const (
	MaxBatchOps   = wire.MaxBatchOps   // operations
	MaxBatchBytes = wire.MaxBatchBytes // of the request's body, 4 MiB
)

// Batch is an entity group transaction: up to 100 changes of rows in one
// partition, all of them carried out or none, in one request. It is never split;
// [Table.Bulk] is what splits.
//
// Methods that add an operation check it, keep the first error for Commit, and
// return the Batch. A Batch is for one goroutine.
type Batch[T any] struct {
	table   *Table[T]
	changes []change
	mixed   bool                // the row keys do not ascend
	rows    map[string]struct{} // the row keys, once they are many and mixed
	bytes   int
	chunks  []*[]byte // memory of encoded rows
	err     error
	doubt   bool // Commit was tried before, and its outcome is unknown
}

// BatchResult is what a transaction left behind.
type BatchResult struct {
	// ETags of the rows, in the order of the operations; "" for deletes.
	ETags []azcore.ETag
}

// Batch starts an empty transaction.
func (t *Table[T]) Batch() *Batch[T] {
	return &Batch[T]{table: t}
}

// Insert adds [InsertOp].
func (b *Batch[T]) Insert(v *T) *Batch[T] { return b.Add(InsertOp(v)) }

// Upsert adds [UpsertOp].
func (b *Batch[T]) Upsert(v *T, mode Mode) *Batch[T] { return b.Add(UpsertOp(v, mode)) }

// Replace adds [ReplaceOp].
func (b *Batch[T]) Replace(item Item[T]) *Batch[T] { return b.Add(ReplaceOp(item)) }

// Merge adds [MergeOp].
func (b *Batch[T]) Merge(item Item[T]) *Batch[T] { return b.Add(MergeOp(item)) }

// Delete adds [DeleteOp].
func (b *Batch[T]) Delete(key keys.Key, etag azcore.ETag) *Batch[T] {
	return b.Add(DeleteOp[T](key, etag))
}

// Add adds an operation.
func (b *Batch[T]) Add(op Op[T]) *Batch[T] {
	if b.err == nil {
		c, err := b.table.prepare(&op, b.room(b.table.rowSize.Load()))
		b.add(c, err)
	}
	return b
}

// Join adds an operation on a row of another type to b. Both Tables must be of the
// same table of the service; the row must be in the transaction's partition.
func Join[T, U any](b *Batch[T], table *Table[U], op Op[U]) *Batch[T] {
	if b.err == nil {
		c, err := table.prepare(&op, b.room(table.rowSize.Load()))
		b.add(c, err)
	}
	return b
}

// Len is the number of operations added.
func (b *Batch[T]) Len() int { return len(b.changes) }

// fewOps is up to how many operations the simplest bookkeeping is the fastest.
const fewOps = 8

// room gives an empty slice to encode a row into. From the third row on rows share
// chunks, which are used again once a transaction is done.
func (b *Batch[T]) room(size int64) []byte {
	if len(b.changes) < 2 {
		return make([]byte, 0, size)
	}
	if last := len(b.chunks) - 1; last >= 0 {
		if c := *b.chunks[last]; int64(cap(c)-len(c)) >= size {
			return c[len(c):len(c):cap(c)]
		}
	}
	c, ok := chunks.Get().(*[]byte)
	if !ok || int64(cap(*c)) < size {
		c = new([]byte)
		*c = make([]byte, 0, max(chunkSize, size))
	}
	b.chunks = append(b.chunks, c)
	return *c
}

// keep marks the room that row took, if it was encoded there.
func (b *Batch[T]) keep(row []byte) {
	if last := len(b.chunks) - 1; last >= 0 && len(row) > 0 {
		if c := *b.chunks[last]; len(c)+len(row) <= cap(c) && &c[:len(c)+1][len(c)] == &row[0] {
			*b.chunks[last] = c[:len(c)+len(row)]
		}
	}
}

const chunkSize = 64 << 10

var chunks sync.Pool // of *[]byte

// done gives up the rows' memory. Nothing is left to send.
func (b *Batch[T]) done() {
	for _, c := range b.chunks {
		*c = (*c)[:0]
		chunks.Put(c)
	}
	*b = Batch[T]{table: b.table, err: ErrCommitted}
}

func (b *Batch[T]) add(c change, err error) {
	if err == nil {
		err = b.fits(&c)
	}
	if err != nil {
		b.err = &BatchError{Index: len(b.changes), Op: c.what, Key: c.key(), err: err}
		return
	}
	b.keep(c.Body)
	if len(b.changes) == fewOps && cap(b.changes) < MaxBatchOps {
		b.changes = append(make([]change, 0, MaxBatchOps), b.changes...)
	}
	b.mixed = b.mixed || !b.after(c.RowKey)
	b.changes = append(b.changes, c)
	switch {
	case b.rows != nil:
		b.rows[c.RowKey] = struct{}{}
	case b.mixed && len(b.changes) > fewOps:
		b.rows = make(map[string]struct{}, MaxBatchOps)
		for i := range b.changes {
			b.rows[b.changes[i].RowKey] = struct{}{}
		}
	}
}

// after reports whether row is above the last one added.
func (b *Batch[T]) after(row string) bool {
	n := len(b.changes)
	return n == 0 || row > b.changes[n-1].RowKey
}

func (b *Batch[T]) has(row string) bool {
	switch {
	case b.rows != nil:
		_, ok := b.rows[row]
		return ok
	case !b.mixed && b.after(row):
		return false // rows come sorted mostly
	}
	for i := range b.changes {
		if b.changes[i].RowKey == row {
			return true
		}
	}
	return false
}

// fits checks the rules of a transaction for one more change.
func (b *Batch[T]) fits(c *change) error {
	switch {
	case b.doubt:
		// What stands of the first try would speak for the new operation too.
		return fmt.Errorf("%w: of the operations before this one, which therefore cannot be added", ErrOutcomeUnknown)
	case len(b.changes) >= MaxBatchOps:
		return fmt.Errorf("%w: more than %d operations in one transaction", ErrTooLarge, MaxBatchOps)
	case len(b.changes) > 0 && b.changes[0].PartitionKey != c.PartitionKey:
		return ErrMixedPartitions
	case b.has(c.RowKey):
		return ErrDuplicateRow
	}
	size := wire.BatchBytes(&c.Write)
	if b.bytes+size > MaxBatchBytes {
		return fmt.Errorf("%w: transaction of more than %d bytes", ErrTooLarge, MaxBatchBytes)
	}
	b.bytes += size
	return nil
}

// drop takes out operation i.
func (b *Batch[T]) drop(i int) {
	c := &b.changes[i]
	delete(b.rows, c.RowKey)
	b.bytes -= wire.BatchBytes(&c.Write)
	b.changes = slices.Delete(b.changes, i, i+1)
}

// keepFirst takes out all operations but the first n.
func (b *Batch[T]) keepFirst(n int) {
	for len(b.changes) > n {
		b.drop(len(b.changes) - 1)
	}
}

// Commit carries out the transaction. On failure nothing was applied and the error
// is a [*BatchError] that names the operation, unless no definite answer came; then
// Commit reads the rows to find out, and answers [ErrOutcomeUnknown] where they do
// not tell. An empty transaction is done without a request; otherwise it is one. A
// Batch that failed may be committed again, also after [ErrOutcomeUnknown]: a
// refusal then makes Commit read the rows once more, and nothing more can be added.
// One that was applied gives [ErrCommitted] from then on.
func (b *Batch[T]) Commit(ctx context.Context) (BatchResult, error) {
	if b.err != nil {
		return BatchResult{}, b.err
	}
	if len(b.changes) == 0 {
		return BatchResult{}, ctx.Err()
	}
	writes := make([]*wire.Write, len(b.changes))
	for i := range b.changes {
		writes[i] = &b.changes[i].Write
	}
	etags, err := b.table.wire.Batch(ctx, writes)
	if err != nil {
		etags, err = b.failed(ctx, err)
	}
	if err != nil {
		return BatchResult{}, err
	}
	b.done()
	result := BatchResult{ETags: make([]azcore.ETag, len(etags))}
	for i, etag := range etags {
		result.ETags[i] = azcore.ETag(etag)
	}
	return result, nil
}

func (b *Batch[T]) failed(ctx context.Context, err error) ([]string, error) {
	failed := &BatchError{Index: -1, Op: "batch", err: err}
	var f *wire.BatchFailure
	if errors.As(err, &f) {
		failed.Code, failed.Status, failed.err = f.Cause.Code, f.Cause.Status, f.Cause
		if f.Index >= 0 && f.Index < len(b.changes) {
			c := &b.changes[f.Index]
			failed.Index, failed.Op, failed.Key = f.Index, c.what, c.key()
		}
	}
	var e *azerr.Error
	if errors.As(err, &e) {
		failed.Code, failed.Status = e.Code, e.Status
		if e.Unsure || b.doubt {
			etags, err := b.table.settle(ctx, b.changes, e)
			if err == nil {
				return etags, nil
			}
			failed.err = err
			b.doubt = errors.Is(err, ErrOutcomeUnknown)
		}
	}
	return nil, failed
}
