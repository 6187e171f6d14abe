package patterns

import (
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Mode says what an upsert does with properties that the row has and the value
// has not.
type Mode int

const (
	// Merge keeps them. A merge never removes a property.
	Merge Mode = iota
	// Replace removes them.
	Replace
)

// Op is one change of one row, for [Batch.Add] and [Table.Bulk]. The value it was
// made with must not change until it has been sent or added to a Batch.
type Op[T any] struct {
	kind  wire.Kind
	what  string // "insert", "replace", …
	value *T     // nil for a delete

	key    keys.Key // the row's, where it was read
	etag   azcore.ETag
	origin *origin
	texts  []textProperty // given by With
	placed bool           // the key was given by At
	gone   bool           // a delete that only wants the row gone
	mode   Mode           // of an upsert
}

// projected reports whether the value was read in part.
func (o *Op[T]) projected() bool { return o.origin != nil && o.origin.selected != nil }

// base is the stamps of the version that op changes, "" where it has no condition.
func (o *Op[T]) base() string {
	switch {
	case o.kind == wire.Insert:
		return bornStamp
	case o.kind < wire.Merge || o.etag == azcore.ETagAny:
		return ""
	case o.origin != nil && o.origin.stamp != "" && o.origin.version == o.etag:
		return o.origin.stamp
	}
	return versionStamp(string(o.etag))
}

// InsertOp inserts v; it fails when the row exists.
func InsertOp[T any](v *T) Op[T] { return Op[T]{kind: wire.Insert, value: v, what: "insert"} }

// UpsertOp writes v whether the row exists or not. It checks no ETag.
func UpsertOp[T any](v *T, mode Mode) Op[T] {
	kind := wire.InsertOrMerge
	if mode == Replace {
		kind = wire.InsertOrReplace
	}
	return Op[T]{kind: kind, value: v, what: "upsert", mode: mode}
}

// ReplaceOp replaces the row that item was read from, if its ETag still holds.
func ReplaceOp[T any](item Item[T]) Op[T] { return conditional(wire.Replace, "replace", item) }

// MergeOp merges item into the row it was read from, if its ETag still holds.
func MergeOp[T any](item Item[T]) Op[T] { return conditional(wire.Merge, "merge", item) }

func conditional[T any](kind wire.Kind, what string, item Item[T]) Op[T] {
	return Op[T]{kind: kind, what: what, value: &item.Value, key: item.Key, etag: item.ETag, origin: item.origin}
}

// DeleteOp deletes the row at key if it has that ETag. The ETag "" stands for any,
// azcore.ETagAny; a row that does not exist fails the transaction either way.
func DeleteOp[T any](key keys.Key, etag azcore.ETag) Op[T] {
	op := Op[T]{kind: wire.Delete, what: "delete", key: key, etag: etag}
	if etag == "" {
		op.etag, op.gone = azcore.ETagAny, true
	}
	return op
}

// change is an Op made ready to send: checked, encoded, stamped.
type change struct {
	wire.Write
	what string // "insert", "replace", …
	id   string // this write's own stamp, "" where writes are not stamped
	base string // the stamps of the version that it changes, "" for any version
	gone bool   // a delete that only wants the row gone
	rmw  bool   // the content was computed from the row: equal content proves nothing
}

func (c *change) key() keys.Key { return keys.Key{Partition: c.PartitionKey, Row: c.RowKey} }

// prepare checks op and encodes its row behind dst, or into memory of its own
// where dst has no room. Nothing is sent.
func (t *Table[T]) prepare(op *Op[T], dst []byte) (change, error) {
	if op.what == "" { // the zero Op
		op.what = op.kind.String()
	}
	c := change{Write: wire.Write{Kind: op.kind, ETag: string(op.etag)}, what: op.what, gone: op.gone}
	err := t.complete(&c, op, dst)
	if err != nil {
		err = fmt.Errorf("%s: %w", op.what, err)
	}
	return c, err
}

func (t *Table[T]) complete(c *change, op *Op[T], dst []byte) error {
	if op.value == nil && op.kind != wire.Delete {
		return fmt.Errorf("value: %w", ErrNil)
	}
	if op.mode != Merge && op.mode != Replace {
		return errors.New("mode is neither Merge nor Replace")
	}
	if op.kind == wire.Replace && op.projected() {
		return ErrProjected
	}
	if err := c.Check(); err != nil {
		return err
	}
	key, err := t.place(op)
	if err != nil {
		return err
	}
	c.PartitionKey, c.RowKey = key.Partition, key.Row
	if op.kind == wire.Delete {
		return nil
	}
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row}
	var rest edm.Unknown
	if o := op.origin; o != nil {
		if op.kind == wire.Replace {
			rest = o.rest // a merge keeps it anyway
		}
		e.Only = o.selected
	}
	rest = op.with(rest)
	e.Unknown = &rest
	if t.stamped {
		c.id, c.base = newStamp(), op.base()
		e.Stamp = addStamp(c.id, c.base)
	}
	if c.Body, err = t.codec.Append(dst, op.value, e); err != nil {
		return err
	}
	t.wrote(int64(len(c.Body)))
	return nil
}

// wrote notes the size of a row. One that is far larger than those behind it is
// forgotten soon, or the buffers of all of them would be as large.
func (t *Table[T]) wrote(n int64) {
	switch most := t.rowSize.Load(); {
	case n > most:
		t.rowSize.Store(n)
	case n < most/2:
		t.rowSize.Store(most / 2)
	}
}
