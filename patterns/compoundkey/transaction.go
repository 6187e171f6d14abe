package compoundkey

import (
	"context"

	"github.com/azpatterns/azpatterns/patterns"
)

// Transaction changes parents and children of one partition, all of them or none, in one
// request. Its limits and errors are those of [patterns.Batch]. It is not safe for
// concurrent use. Make one with [Family.Transaction]; the zero Transaction refuses every
// operation with [patterns.ErrNil].
type Transaction[P, C any] struct {
	batch    patterns.Batch[P]
	children *patterns.Table[C]
}

// Transaction starts an empty transaction.
func (f *Family[P, C]) Transaction() *Transaction[P, C] {
	if f.usable() != nil {
		return &Transaction[P, C]{}
	}
	return &Transaction[P, C]{*f.parents.Batch(), f.children}
}

// Parent adds an operation on a parent, for example a [patterns.InsertOp], or the
// [patterns.ReplaceOp] of an Item.
func (t *Transaction[P, C]) Parent(op patterns.Op[P]) *Transaction[P, C] {
	t.batch.Add(op)
	return t
}

// Child adds an operation on a child.
func (t *Transaction[P, C]) Child(op patterns.Op[C]) *Transaction[P, C] {
	patterns.AddTo(&t.batch, t.children, op)
	return t
}

// Commit carries out the transaction. One request.
func (t *Transaction[P, C]) Commit(ctx context.Context) (patterns.BatchResult, error) {
	return t.batch.Commit(ctx)
}
