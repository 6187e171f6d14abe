package patterns

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Mode is what an upsert does with properties that the row has and the value has not.
type Mode int

const (
	// Merge keeps them. A merge never removes a property.
	Merge Mode = iota
	// Replace removes them.
	Replace
)

// Op is one change of one row, for [Table.Do], [Batch.Add] and [Table.Bulk]. Its value
// must not change until it was sent or added to a Batch. An Op is an immutable value and
// safe for concurrent use as long as its value does not change.
type Op[T any] struct{ op txn.Op }

// InsertOp inserts v; it fails if the row exists.
func InsertOp[T any](v *T) Op[T] { return opOf(wire.Insert, "insert", v) }

// UpsertOp writes v whether or not the row exists. It checks no ETag.
func UpsertOp[T any](v *T, mode Mode) Op[T] {
	kind := wire.InsertOrMerge
	if mode == Replace {
		kind = wire.InsertOrReplace
	}
	o := opOf(kind, "upsert", v)
	o.op.BadMode = mode != Merge && mode != Replace
	return o
}

// CopyOp inserts the row that item was read as, with its unknown properties, under item's key;
// it fails if the row exists. For a copy in another table. An item that was read in part inserts
// that part. [TableOptions.StampWrites] of the source are not copied.
func CopyOp[T any](item Item[T]) Op[T] {
	item.ETag = ""
	return conditional(wire.Insert, "insert", item).At(item.Key)
}

func opOf[T any](kind wire.Kind, name string, v *T) Op[T] {
	return Op[T]{op: txn.Op{Kind: kind, Name: name, Value: pointer(v)}}
}

// ReplaceOp replaces the row that item was read from, if it still has item's ETag.
func ReplaceOp[T any](item Item[T]) Op[T] { return conditional(wire.Replace, "replace", item) }

// MergeOp merges item into the row that it was read from, if it still has item's ETag.
func MergeOp[T any](item Item[T]) Op[T] { return conditional(wire.Merge, "merge", item) }

func conditional[T any](kind wire.Kind, name string, item Item[T]) Op[T] {
	return Op[T]{op: txn.Op{Kind: kind, Name: name, Value: &item.Value, Key: item.Key, ETag: string(item.ETag), Origin: item.current()}}
}

// DeleteOp deletes the row at key if it has that ETag. An empty ETag means any, like
// azcore.ETagAny; in a transaction a missing row is a failure either way.
func DeleteOp[T any](key keys.Key, etag azcore.ETag) Op[T] {
	op := txn.Op{Kind: wire.Delete, Name: "delete", Key: key, ETag: string(etag)}
	if etag == "" {
		op.ETag, op.IfExists = string(azcore.ETagAny), true
	}
	return Op[T]{op: op}
}

// At sets the key of the row, in place of the one that the table would derive from the
// value. Fields PartitionKey and RowKey of the value are then ignored.
func (o Op[T]) At(key keys.Key) Op[T] {
	o.op.At(key)
	return o
}

// Only restricts an operation to the named properties of its value. A merge, or an upsert
// that merges, writes these and leaves the row's other properties as they are, also if the
// value has fields for them. An insert stores a row that has no others. It replaces the
// properties of an earlier Only and those of a partly read [Item]. Keys are always written,
// and what [Op.With] and [TableOptions.StampWrites] add. Only without names writes nothing
// else.
//
// A zero value is written like any other, unless the field's tag has omitempty or omitzero: a
// merge then leaves the property as it is.
//
// A name that the value has no property of is a [*PropertyError], and an operation that
// replaces the row is refused with [ErrProjected], because it would delete the other
// properties; both before any request. The Item of the result is [Item.Projected]. Only has
// no effect on a delete.
func (o Op[T]) Only(properties ...string) Op[T] {
	o.op.Only(properties)
	return o
}

// With adds a text property for which T has no field, such as the name of the entity's
// type. If T has a field of that name, the field is written instead. A later text replaces
// that of an earlier With of the same name. A name or a text that cannot be stored is a
// [*PropertyError] before any request. With has no effect on a delete.
func (o Op[T]) With(name, text string) Op[T] {
	o.op.With(name, text)
	return o
}
