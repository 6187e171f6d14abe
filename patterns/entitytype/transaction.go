package entitytype

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Transaction changes entities of any types in one partition, all of them or none, in one
// request. Its limits and errors are those of [patterns.Batch]. Methods that add an
// operation check it, keep the first error for Commit, and return the Transaction. It is
// not safe for concurrent use. Make one with [Table.Transaction]; the zero Transaction
// refuses every operation with [patterns.ErrNil].
type Transaction struct {
	table *Table
	batch *patterns.Batch[patterns.Row]
	err   error
}

// Transaction starts an empty transaction.
func (t *Table) Transaction() *Transaction {
	if t.usable() != nil {
		return &Transaction{}
	}
	return &Transaction{table: t, batch: t.rows.Batch()}
}

// Insert adds the operation of [Table.Insert].
func (x *Transaction) Insert(key keys.Key, v any) *Transaction {
	return x.add(insertOf(key, v))
}

// Upsert adds the operation of [Table.Upsert].
func (x *Transaction) Upsert(key keys.Key, v any, mode patterns.Mode) *Transaction {
	return x.add(upsertOf(key, v, mode))
}

// Replace adds the operation of [Table.Replace].
func (x *Transaction) Replace(e Entity) *Transaction { return x.add(changeOf(replace, e)) }

// Merge adds the operation of [Table.Merge].
func (x *Transaction) Merge(e Entity) *Transaction { return x.add(changeOf(merge, e)) }

// Delete adds a [patterns.DeleteOp].
func (x *Transaction) Delete(key keys.Key, etag azcore.ETag) *Transaction {
	if x.usable() {
		x.batch.Delete(key, etag)
	}
	return x
}

func (x *Transaction) add(w entityWrite) *Transaction {
	if !x.usable() {
		return x
	}
	table, err := x.table.prepare(&w)
	if err != nil {
		x.err = fmt.Errorf("write entity: %w", err)
		return x
	}
	table.addTo(x.batch, w.write)
	return x
}

// usable reports whether an operation can be added.
func (x *Transaction) usable() bool {
	if x.err == nil {
		x.err = x.table.usable()
	}
	return x.err == nil
}

// Commit carries out the transaction. One request.
func (x *Transaction) Commit(ctx context.Context) (patterns.BatchResult, error) {
	if !x.usable() {
		return patterns.BatchResult{}, x.err
	}
	return x.batch.Commit(ctx)
}
