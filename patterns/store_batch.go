package patterns

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// StoreBatch is a transaction over several entities of one partition of a [Store] and the
// rows derived from them: all of it is applied or nothing. It is one entity group
// transaction, so the entities, their rows in the partition, and an outbox row for each
// entity with rows elsewhere are at most 100 rows and 4 MiB. It is never split;
// [Store.Bulk] splits. Transactions are isolated: each depends on all of its entities being the
// versions that it has read. So an entity to be deleted must exist.
//
// Rows that several entities share, such as a list, are read and written once. A value that
// is unique within the partition may pass from one entity to another, so two entities can
// swap theirs. These are refused:
//
//   - two operations on one entity, with [ErrDuplicateRow];
//   - entities of several partitions, with [ErrMixedPartitions];
//   - an entity together with another one that changes the first one's row, for example
//     merges properties into it, with [ErrDuplicateRow];
//   - a unique remote row that passes from one entity to another, with [*DuplicateError]: it
//     is reserved before the transaction, while it still belongs to the first.
//
// Methods that add an operation check it, keep the first error for Commit, and return the
// StoreBatch. A StoreBatch is not safe for concurrent use. Make one with [Store.Batch]; the
// zero StoreBatch refuses every operation with [ErrNil].
type StoreBatch[T any] struct{ batch storeBatch }

// storeBatch is a StoreBatch of any type.
type storeBatch struct {
	engine *outbox.Store
	ops    []storeOp
	err    error
}

// Batch starts an empty transaction.
func (s *Store[T]) Batch() *StoreBatch[T] {
	return &StoreBatch[T]{storeBatch{engine: s.engine}}
}

// Insert adds [InsertEntity].
func (b *StoreBatch[T]) Insert(v *T) *StoreBatch[T] { return b.Add(InsertEntity(v)) }

// Put adds [PutEntity].
func (b *StoreBatch[T]) Put(v *T) *StoreBatch[T] { return b.Add(PutEntity(v)) }

// PutItem adds [PutEntity] for an entity that was read. was must be as it was read, and v another
// value, as for [Store.PutItem].
func (b *StoreBatch[T]) PutItem(was Item[T], v *T) *StoreBatch[T] {
	return b.Add(PutEntity(v).Was(was))
}

// Update adds [UpdateEntity]. Commit may call change several times.
func (b *StoreBatch[T]) Update(key keys.Key, change func(*T) error) *StoreBatch[T] {
	return b.Add(UpdateEntity(key, change))
}

// Delete adds [DeleteEntity]. If there is no entity, Commit fails with [ErrNotFound]: the service
// cannot make a transaction depend on the absence of a row, so another client could insert the
// entity before the transaction is applied. [Store.Bulk], whose operations do not depend on each
// other, deletes the entities that exist.
func (b *StoreBatch[T]) Delete(key keys.Key) *StoreBatch[T] { return b.Add(DeleteEntity[T](key)) }

// DeleteItem adds [DeleteEntity] for an entity that was read. was must be as it was read, as for
// [Store.DeleteItem].
func (b *StoreBatch[T]) DeleteItem(was Item[T]) *StoreBatch[T] {
	return b.Add(DeleteEntity[T](was.Key).Was(was))
}

// Add adds an operation.
func (b *StoreBatch[T]) Add(op StoreOp[T]) *StoreBatch[T] {
	b.batch.add(op.op)
	return b
}

// Len is the number of operations added.
func (b *StoreBatch[T]) Len() int { return len(b.batch.ops) }

// Commit carries out the transaction, and returns the entities in the order of the
// operations; those that were deleted have only a key. On failure nothing was applied and the
// error is, by errors.As, a [*BatchError] that names the operation, unless it matches
// [ErrOutcomeUnknown]. It matches [ErrNotFound] if an entity to be updated or deleted does not
// exist; then no transaction was sent. A transaction that exceeds a limit is a [*PlanError] that matches
// [ErrTooLarge].
//
// An empty transaction succeeds without a request. Otherwise Commit reads the entities of
// Put, Update and Delete, and the lists and merged rows that change in the partition, one
// request for each; the transaction is one more, the only one for entities that are inserted
// and have only copies in the partition. If entities have rows elsewhere, Commit first puts
// one message for all of them, and reserves their unique rows; afterwards it writes the rows
// of each entity as [Store.Put] does, and deletes all outbox rows in one transaction, then the
// message.
//
// A StoreBatch that failed may be committed again, but not after [ErrOutcomeUnknown]: then
// Commit returns the same error without a request. Once a transaction was applied, Commit
// returns [ErrCommitted].
func (b *StoreBatch[T]) Commit(ctx context.Context) ([]Item[T], error) {
	records, err := b.batch.commit(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]Item[T], len(records))
	for i, r := range records {
		items[i] = itemOf[T](&r)
	}
	return items, nil
}

func (b *storeBatch) add(op storeOp) {
	if b.err == nil && b.engine == nil {
		b.err = fmt.Errorf("batch: store: %w", ErrNil)
	}
	if b.err != nil {
		return
	}
	in, err := op.intent(b.engine)
	if err != nil {
		b.err = &types.BatchError{Index: len(b.ops), Op: op.name, Key: in.Key, Err: err}
		return
	}
	b.ops = append(b.ops, op)
}

func (b *storeBatch) commit(ctx context.Context) ([]txn.Record, error) {
	if b.err == nil && b.engine == nil {
		b.err = fmt.Errorf("batch: store: %w", ErrNil)
	}
	if b.err != nil {
		return nil, b.err
	}
	if len(b.ops) == 0 {
		return nil, ctx.Err()
	}
	ins := make([]*outbox.Intent, len(b.ops))
	for i := range b.ops {
		var err error
		if ins[i], err = b.ops[i].intent(b.engine); err != nil { // a value has changed since Add
			return nil, &types.BatchError{Index: i, Op: b.ops[i].name, Key: ins[i].Key, Err: err}
		}
		ins[i].IfExists = false
	}
	ctx, span := b.engine.Begin(ctx, "batch")
	defer span.End()
	records, err := b.engine.RunAll(ctx, ins)
	span.Fail(err)
	if err == nil {
		b.err = ErrCommitted
		return records, nil
	}
	failed := new(types.BatchError)
	if !errors.As(err, &failed) {
		failed = &types.BatchError{Op: ins[0].Op, Key: ins[0].Key, Err: err}
	}
	if errors.Is(err, ErrOutcomeUnknown) {
		b.err = failed
	}
	return nil, failed
}

// Bulk carries out any number of operations on entities, with the rows derived from them. It
// groups them by partition; entities of a partition share transactions, as many as fit into
// 100 rows and 4 MiB, see [StoreBatch]. Those of different partitions are sent concurrently.
// Operations on one entity are applied in their order, each in a transaction of its own;
// operations on different entities of a partition may be applied together. At most 51,200
// operations wait for their transactions to fill.
//
// Bulk as a whole is not atomic. If a transaction fails because of one entity, its operation
// is reported and the others are sent again without it, so every operation succeeds or fails
// by itself. The error is nil if all were applied; otherwise it matches the first failure.
// When ctx ends, Bulk stops taking operations and reports those that it took but did not
// carry out.
//
// Requests of the report counts transactions of entities only: not the reads before them, nor
// the requests for rows outside the partition, which are those of [Store.Explain].
func (s *Store[T]) Bulk(ctx context.Context, ops iter.Seq[StoreOp[T]], opts *BulkOptions) (BulkReport[StoreOp[T]], error) {
	if ops == nil {
		return BulkReport[StoreOp[T]]{}, fmt.Errorf("bulk: operations: %w", ErrNil)
	}
	parallel, progress, err := opts.values()
	if err != nil {
		return BulkReport[StoreOp[T]]{}, fmt.Errorf("bulk: %w", err)
	}
	var report BulkReport[StoreOp[T]]
	ctx, span := s.engine.Begin(ctx, "bulk")
	defer span.End()
	b := outbox.NewBulk(s.engine, parallel, func(p Progress) {
		if report.Progress = p; progress != nil {
			progress(p)
		}
	}, func(index int, key keys.Key, source any, err error) {
		report.Failures = append(report.Failures, BulkFailure[StoreOp[T]]{Index: index, Key: key, Op: StoreOp[T]{source.(storeOp)}, Err: err})
	})
	defer b.Wait() // also if ops panics
	var ended error
	for op := range ops {
		if ended = ctx.Err(); ended != nil {
			break
		}
		in, err := op.op.intent(s.engine)
		b.Add(ctx, in, op.op, err)
	}
	b.Flush(ctx)
	err = bulkError(&report, ended)
	span.Fail(err)
	return report, err
}
