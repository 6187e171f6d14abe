package patterns

import (
	"context"
	"fmt"
	"iter"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// BulkOptions are the options of [Table.Bulk] and [Store.Bulk]. nil and the zero value select the
// defaults.
type BulkOptions struct {
	// Parallel is how many transactions may be in flight, each of another partition. Zero
	// means 8.
	Parallel int

	// Progress, if set, is called with the counts so far after each request. Calls do not
	// overlap.
	Progress func(Progress)
}

type (
	// BulkReport is the result of [Table.Bulk], whose operations O are of type [Op], or of
	// [Store.Bulk], whose operations are of type [StoreOp]. Its size grows with the number of
	// failures, not with the number of operations.
	BulkReport[O any] = types.BulkReport[O]

	// BulkFailure is an operation that was not applied. Err matches [ErrOutcomeUnknown] if it
	// may have been applied.
	BulkFailure[O any] = types.BulkFailure[O]
)

// Bulk carries out any number of operations: it groups them by partition, packs them
// into transactions of up to 100 operations and 4 MiB, and sends those of different
// partitions concurrently. Operations on one partition are applied in their order; so
// are two on the same row, in two transactions. At most 51,200 operations, or 64 MiB of
// rows, wait for their transactions to fill.
//
// A row that aztables cannot address in a transaction, because its key contains a quote, is
// sent in a request of its own, after the operations before it and before those after it. A
// client with [Accelerate] needs no such requests. While it is not known yet whether the client
// has it, one read finds out.
//
// The report's Found are operations taken from the input, Done those that were applied, Failed those that
// were not, or whose outcome is unknown, and Requests the transactions and single operations sent, repeated ones included.
//
// Bulk as a whole is not atomic. If a transaction fails because of one operation, that
// one is reported and the others are sent again without it, so every operation succeeds
// or fails by itself. The error is nil if all were applied; otherwise it matches the
// first failure. When ctx ends, Bulk stops taking operations and reports those that it
// took but did not send.
func (t *Table[T]) Bulk(ctx context.Context, ops iter.Seq[Op[T]], opts *BulkOptions) (BulkReport[Op[T]], error) {
	if ops == nil {
		return BulkReport[Op[T]]{}, fmt.Errorf("bulk: operations: %w", ErrNil)
	}
	parallel, progress, err := opts.values()
	if err != nil {
		return BulkReport[Op[T]]{}, fmt.Errorf("bulk: %w", err)
	}
	ctx, span := t.txn.Client.Begin(ctx, "table.", "bulk")
	defer span.End()
	var report BulkReport[Op[T]]
	b := txn.NewBulk(t.txn, parallel, func(p Progress) {
		if report.Progress = p; progress != nil {
			progress(p)
		}
	}, func(index int, key keys.Key, op *txn.Op, err error) {
		report.Failures = append(report.Failures, BulkFailure[Op[T]]{Index: index, Key: key, Op: Op[T]{*op}, Err: err})
	})
	defer b.Wait() // also if ops panics
	var ended error
	for op := range ops {
		if ended = ctx.Err(); ended != nil {
			break
		}
		b.Add(ctx, &op.op)
	}
	b.Flush(ctx)
	err = bulkError(&report, ended)
	span.Fail(err)
	return report, err
}

// values returns the options with their defaults; progress may be nil.
func (o *BulkOptions) values() (parallel int, progress func(Progress), err error) {
	if o == nil {
		return defaultParallel, nil, nil
	}
	parallel, progress = o.Parallel, o.Progress
	err = azerr.Default(&parallel, defaultParallel, "Parallel")
	return parallel, progress, err
}

// bulkError returns the error of a Bulk; ended is why it stopped taking operations.
func bulkError[O any](r *BulkReport[O], ended error) error {
	if n := len(r.Failures); n > 0 {
		return fmt.Errorf("bulk: %d of %d operations not applied, one of them: %w", n, r.Found, r.Failures[0].Err)
	}
	return ended
}
