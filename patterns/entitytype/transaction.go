package entitytype

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Transaction changes entities of any types in one partition: all changes or none, in
// one request. Its limits and errors are those of [patterns.Batch].
type Transaction struct {
	table *Table
	batch *patterns.Batch[patterns.Row]
	err   error
}

// Transaction starts an empty transaction.
func (t *Table) Transaction() *Transaction {
	return &Transaction{table: t, batch: t.rows.Batch()}
}

// Insert adds what [Table.Insert] does.
func (x *Transaction) Insert(key keys.Key, v any) *Transaction {
	return x.add(write{verb: insert, key: key, value: v})
}

// Upsert adds what [Table.Upsert] does.
func (x *Transaction) Upsert(key keys.Key, v any, mode patterns.Mode) *Transaction {
	return x.add(write{verb: upsert, key: key, value: v, mode: mode})
}

// Replace adds what [Table.Replace] does.
func (x *Transaction) Replace(e Entity) *Transaction {
	return x.add(e.write(replace))
}

// Merge adds what [Table.Merge] does.
func (x *Transaction) Merge(e Entity) *Transaction {
	return x.add(e.write(merge))
}

// Delete adds a delete; see [patterns.DeleteOp].
func (x *Transaction) Delete(key keys.Key, etag azcore.ETag) *Transaction {
	if x.err == nil {
		x.batch.Delete(key, etag)
	}
	return x
}

func (x *Transaction) add(w write) *Transaction {
	if x.err != nil {
		return x
	}
	table, text, err := x.table.prepare(&w)
	if err != nil {
		x.err = err
		return x
	}
	table.join(x.batch, w, x.table.registry.property, text)
	return x
}

// Commit carries out the transaction. One request.
func (x *Transaction) Commit(ctx context.Context) (patterns.BatchResult, error) {
	if x.err != nil {
		return patterns.BatchResult{}, x.err
	}
	return x.batch.Commit(ctx)
}
