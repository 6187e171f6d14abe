package patterns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// At gives the key of the row, in place of the one that the table would derive
// from the value. Fields PartitionKey and RowKey of the value are then ignored.
func (o Op[T]) At(key keys.Key) Op[T] {
	o.key, o.placed = key, true
	return o
}

// With adds a text property that T has no field for, such as the name of the
// entity's type. A field of that name takes its place. It does nothing to a delete.
func (o Op[T]) With(name, text string) Op[T] {
	o.texts = append(slices.Clip(o.texts), textProperty{name, text})
	return o
}

type textProperty struct{ name, text string }

// with is rest and what With added.
func (o *Op[T]) with(rest edm.Unknown) edm.Unknown {
	for _, p := range o.texts {
		rest = rest.WithText(p.name, p.text)
	}
	return rest
}

// Do carries out one operation: what [Table.Insert], [Table.Upsert],
// [Table.Replace], [Table.Merge] and [Table.Delete] do with the operation of their
// name. It serves operations whose key was given by [Op.At]. One request. The Item
// of a delete has the key only.
func (t *Table[T]) Do(ctx context.Context, op Op[T]) (Item[T], error) {
	var row []byte
	if op.kind != wire.Delete {
		row = make([]byte, 0, t.rowSize.Load())
	}
	c, err := t.prepare(&op, row)
	if err != nil {
		return Item[T]{}, err
	}
	etag, err := t.send(ctx, c)
	if err != nil {
		if op.gone && errors.Is(err, ErrNotFound) {
			return Item[T]{Key: op.key}, nil
		}
		return Item[T]{}, err
	}
	return t.written(&op, &c, etag), nil
}

// place is the key of the row that op changes, checked.
func (t *Table[T]) place(op *Op[T]) (keys.Key, error) {
	if op.kind == wire.Delete || op.placed || op.projected() || t.keyless && op.kind >= wire.Merge {
		return op.key, op.key.Validate()
	}
	derived, err := t.Key(op.value)
	switch {
	case op.key == (keys.Key{}), err == nil && derived == op.key:
		return derived, err
	case t.unkeyed(op.value):
		return op.key, op.key.Validate()
	case err == nil:
		err = ErrKeyChanged
	}
	return derived, err
}

// unkeyed reports whether v tells no more of its key than a zero T does. So it is
// with a value that was read when the fields that make the key are not stored.
func (t *Table[T]) unkeyed(v *T) (same bool) {
	defer func() {
		if recover() != nil { // a key function need not be ready for a zero value
			same = false
		}
	}()
	var zero T
	none, noneErr := t.key(&zero)
	key, err := t.key(v)
	return key == none && (err == nil) == (noneErr == nil)
}

// noKey is the key function of a keyless table.
func noKey[T any](*T) (keys.Key, error) {
	return keys.Key{}, fmt.Errorf("%w: the table is keyless and the operation was given no key by Op.At", ErrBadKey)
}
