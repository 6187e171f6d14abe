package patterns

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// MaxBatchOps is the largest number of operations of an entity group transaction. It is checked before the
// transaction is sent.
//
// https://learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions
const MaxBatchOps = wire.MaxBatchOps

// Batch is an entity group transaction: up to 100 changes of rows in one partition, all
// of them applied or none, in one request. It is never split; [Table.Bulk] splits.
//
// Methods that add an operation check it, keep the first error for Commit, and return
// the Batch. A Batch is not safe for concurrent use. Make one with [Table.Batch]; the
// zero Batch refuses every operation with [ErrNil].
type Batch[T any] struct {
	table *Table[T]
	txn   txn.Batch
}

// BatchResult is the result of a transaction.
type BatchResult struct {
	// ETags of the rows, in the order of the operations; "" for deletes. The Items that were added
	// keep the ETag that they had, which is that of the version before; one that is given its new
	// ETag can be replaced, but must be read again before it is merged, because it still lacks what
	// the row lacked before.
	ETags []azcore.ETag
}

// Batch starts an empty transaction.
func (t *Table[T]) Batch() *Batch[T] {
	b := &Batch[T]{table: t, txn: *txn.NewBatch(t.txn.Client)}
	b.txn.Writable = t.txn.Writable
	return b
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
func (b *Batch[T]) Add(op Op[T]) *Batch[T] { return AddTo(b, b.table, op) }

// AddTo adds an operation on a row of another type to b. Both Tables must be of the same
// table of the service; the row must be in the transaction's partition. Another table is refused
// with [ErrMixedPartitions] once both names are known, which is after the first request of each Table.
func AddTo[T, U any](b *Batch[T], table *Table[U], op Op[U]) *Batch[T] {
	var t *txn.Table
	if table != nil {
		t = table.txn
	}
	b.txn.AddOther(t, &op.op)
	return b
}

// Len is the number of operations added.
func (b *Batch[T]) Len() int { return b.txn.Len() }

// Commit carries out the transaction. On failure nothing was applied and the error is,
// by errors.As, a [*BatchError] that names the operation, unless the response leaves the outcome open;
// then Commit reads the rows to find out, and returns [ErrOutcomeUnknown] if they do not
// show it. An empty transaction succeeds without a request; otherwise Commit sends one. A
// Batch that failed may be committed again, also after [ErrOutcomeUnknown]: a refusal
// then makes Commit read the rows once more, and no further operation can be added. Once
// a transaction was applied, Commit returns [ErrCommitted].
func (b *Batch[T]) Commit(ctx context.Context) (BatchResult, error) {
	ctx, span := b.txn.Begin(ctx)
	defer span.End()
	etags, err := b.txn.Commit(ctx)
	span.Fail(err)
	if err != nil || etags == nil {
		return BatchResult{}, err
	}
	result := BatchResult{ETags: make([]azcore.ETag, len(etags))}
	for i, etag := range etags {
		result.ETags[i] = azcore.ETag(etag)
	}
	return result, nil
}
