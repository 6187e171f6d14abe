package patterns

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Table is one table whose rows are values of T. It may be used by any number of
// goroutines; it starts none and needs no closing.
//
// T is a struct; its exported fields are the row's properties. A tag `table:"Name"`
// renames a field, `table:",omitempty"` leaves it out when zero, `table:"-"` skips
// it, `table:",json"` stores a nested value as JSON text. Where there is no table
// tag the json tag is read, and an embedded aztables.Entity is understood, so that
// structs written for aztables work unchanged. A MarshalJSON or UnmarshalJSON of T
// itself is not called: what the fields and tags say counts.
//
// T may also be aztables.EDMEntity, or a map[string]any with Go values of the exact
// property types (an int counts as an int64), its keys given by [TableOptions.Key].
type Table[T any] struct {
	rows    *rows[T]
	wire    *wire.Client
	codec   *edm.Codec
	key     func(*T) (keys.Key, error)
	keyless bool
	stamped bool
	tries   int
	rowSize atomic.Int64 // of the largest row written of late, to size buffers
}

// TableOptions are the options of [NewTable]. nil and the zero value mean the
// defaults.
type TableOptions[T any] struct {
	// Key gives a value's key. It must be pure. Without it T needs string fields
	// named, or tagged, PartitionKey and RowKey; those are filled when a row is read.
	// Fields that Key uses and that are not stored are zero after reading; the row's
	// key is then that of the Item.
	Key func(*T) (keys.Key, error)

	// Keyless is for values that do not hold their key: every operation is then
	// given it, by [Op.At]; those on an [Item] that was read take that Item's.
	// Without a key an operation fails with [ErrBadKey]. Key is not called.
	Keyless bool

	// StampWrites adds a property azp_stamp to every row written: the identities
	// of its last writes, at most eight, about 110 bytes. With it the outcome of a
	// write whose reply was lost can be read off the row, also where the content
	// cannot tell, such as two writers adding one to the same counter. A blind
	// [Table.Upsert] starts the list anew.
	StampWrites bool

	// UpdateTries is how often [Table.Update] reads and writes before it gives up
	// with [ErrConflict]. Zero means 16.
	UpdateTries int
}

const defaultUpdateTries = 16

// NewTable makes a Table on client. It makes no request. The error names the
// field of T that cannot be stored.
func NewTable[T any](client *aztables.Client, opts *TableOptions[T]) (*Table[T], error) {
	if client == nil {
		return nil, fmt.Errorf("new table: client: %w", ErrNil)
	}
	var o TableOptions[T]
	if opts != nil {
		o = *opts
	}
	codec, err := edm.CodecFor(reflect.TypeFor[T]())
	if err != nil {
		return nil, fmt.Errorf("new table: %w", err)
	}
	t := &Table[T]{
		wire:    wire.NewClient(client),
		codec:   codec,
		key:     o.Key,
		keyless: o.Keyless,
		stamped: o.StampWrites,
		tries:   o.UpdateTries,
	}
	t.rows = &rows[T]{wire: t.wire, codec: codec, schema: schemaOf(codec), stamps: o.StampWrites}
	if t.tries <= 0 {
		t.tries = defaultUpdateTries
	}
	if t.keyless {
		t.key = noKey[T]
	}
	if t.key == nil {
		if !codec.HasKeys() {
			return nil, fmt.Errorf("new table: %v has no fields PartitionKey and RowKey, and TableOptions.Key is not set: %w", reflect.TypeFor[T](), ErrBadKey)
		}
		t.key = func(v *T) (keys.Key, error) {
			pk, rk, ok := codec.Keys(v)
			if !ok {
				return keys.Key{}, fmt.Errorf("%w: the embedded pointer to the fields PartitionKey and RowKey is nil", ErrBadKey)
			}
			return keys.Key{Partition: pk, Row: rk}, nil
		}
	}
	return t, nil
}

// Client gives back the client that NewTable took.
func (t *Table[T]) Client() *aztables.Client { return t.wire.Table() }

// URL is the address of the table, without a query. The SDK does not tell it, so it
// is known, and ok true, from the first request on.
func (t *Table[T]) URL() (url string, ok bool) {
	a, ok := t.wire.Address()
	return a.Base, ok
}

// Create creates the table; a table that exists already is fine. One request.
func (t *Table[T]) Create(ctx context.Context) error { return t.wire.CreateTable(ctx) }

// Drop deletes the table with all its rows; a table that does not exist, or is being
// deleted, is fine. One request. The service needs 40 seconds or more to free the name: until then
// creating a table of that name fails, so use a new one.
//
// https://learn.microsoft.com/rest/api/storageservices/delete-table
func (t *Table[T]) Drop(ctx context.Context) error { return t.wire.DropTable(ctx) }

// Key gives the key under which v is stored, checked.
func (t *Table[T]) Key(v *T) (keys.Key, error) {
	if v == nil {
		return keys.Key{}, fmt.Errorf("key: value: %w", ErrNil)
	}
	k, err := t.key(v)
	if err != nil {
		return keys.Key{}, fmt.Errorf("key: %w", err)
	}
	if err := k.Validate(); err != nil {
		return keys.Key{}, fmt.Errorf("key: %w", err)
	}
	return k, nil
}
