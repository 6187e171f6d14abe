package txn

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Table is what it takes to write entities of one Go type to one table. Entities are
// passed as pointers to that type. It is safe for concurrent use.
type Table struct {
	Client *wire.Client
	Codec  *edm.Codec

	// Key derives the key of an entity. It is nil if entities do not hold their keys:
	// every operation then has to name one.
	Key func(entity any) (keys.Key, error)

	// Zero returns a pointer to a zero entity.
	Zero func() any

	// Stamped adds the write stamps of a row to every write.
	Stamped bool

	// Writable is the rows that may be written.
	Writable Partitions

	// Origins, if set, makes the origins of records.
	Origins *Origins
}

// Within returns t, restricted to writes in one partition.
func (t *Table) Within(partition string) *Table {
	within := *t
	within.Writable = append(slices.Clip(t.Writable), partition)
	return &within
}

// Partitions is the rows that are in each of some partitions: all rows for none, and no row
// for two that differ.
type Partitions []string

// Check returns an error unless the rows of a partition belong to p.
func (p Partitions) Check(partition string) error {
	for _, only := range p {
		if partition != only {
			return azerr.ErrMixedPartitions
		}
	}
	return nil
}

// KeyOf is the key of an entity, checked.
func (t *Table) KeyOf(entity any) (keys.Key, error) {
	if t.Key == nil {
		return keys.Key{}, fmt.Errorf("key: %w: the table is keyless and the operation was given no key by Op.At", keys.ErrBadKey)
	}
	k, err := t.Key(entity)
	if err == nil {
		err = k.Validate()
	}
	if err != nil {
		return keys.Key{}, fmt.Errorf("key: %w", azerr.Seal(err))
	}
	return k, nil
}

// rowKey is the key of the row that op changes, checked.
func (t *Table) rowKey(op *Op) (keys.Key, error) {
	if op.Kind == wire.Delete || op.placed || op.projected() || t.Key == nil && op.Kind >= wire.Merge {
		return op.Key, op.Key.Validate()
	}
	derived, err := t.KeyOf(op.Value)
	switch {
	case op.Key == (keys.Key{}), err == nil && derived == op.Key:
		return derived, err
	case t.keyUnset(op.Value):
		return op.Key, op.Key.Validate()
	case err == nil:
		err = azerr.ErrKeyChanged
	}
	return derived, err
}

// keyUnset reports whether the entity's key is that of a zero entity: it was read from
// a row that does not store the fields from which the key is made.
func (t *Table) keyUnset(entity any) (unset bool) {
	if t.Key == nil {
		return true
	}
	defer func() {
		if recover() != nil { // a key function need not accept a zero entity
			unset = false
		}
	}()
	zero, zeroErr := t.Key(t.Zero())
	key, err := t.Key(entity)
	return key == zero && (err == nil) == (zeroErr == nil)
}

// KeyFields is the [Table.Key] of entities with the fields PartitionKey and RowKey.
func (t *Table) KeyFields(entity any) (keys.Key, error) {
	pk, rk, ok := t.Codec.Keys(entity)
	if !ok {
		return keys.Key{}, fmt.Errorf("%w: the embedded pointer to the fields PartitionKey and RowKey is nil", keys.ErrBadKey)
	}
	return keys.Key{Partition: pk, Row: rk}, nil
}

// Fields returns the properties that entities of type t have fields for, in the order in
// which they are written. The error states why t cannot be stored. Unless encrypted, no field may be.
func Fields(t reflect.Type, encrypted bool) ([]edm.Field, error) {
	codecFor := edm.CodecFor
	if encrypted {
		codecFor = edm.ComparingCodecFor
	}
	codec, err := codecFor(t)
	if err != nil {
		return nil, err
	}
	return codec.Fields(), nil
}

// IsOwnName reports whether callers may have a property with that name of their own.
func IsOwnName(name string) bool { return edm.IsOwnName(name) }
