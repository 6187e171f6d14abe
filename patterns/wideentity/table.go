package wideentity

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Table is a table of wide entities: values of T, each in several rows. It may be
// used by any number of goroutines; it starts none that outlives a call, and needs
// no closing.
type Table[T any] struct {
	wire     *wire.Client
	codec    *edm.Codec
	names    map[string]struct{} // of T's properties, nil where it may have any
	layout   layout
	tries    int
	parallel int

	batchBytes int // of one transaction
}

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options struct {
	// Parts is over how many rows the properties of an entity are spread, 1 to
	// [MaxParts]. Zero means 16, which is good for about 2,500 properties; with more,
	// have a part for each 150. Rows of parts that hold nothing do not exist.
	//
	// Parts may change while the table has entities. Those stored before stay
	// readable and are changed where they stand; [Table.Replace], [Table.Put] and
	// [Table.Update] move them to the new number.
	Parts int

	// Place gives the part of a property, from 1 to Parts: such as (day-1)/251+1 for
	// the property "Day300". Without it a hash of the name does. It must be pure. For
	// a name that is in use it must not change, except together with Parts.
	Place func(property string) int

	// Tries is how often a read that met parts of different versions reads again
	// before it fails with [ErrTorn], and how often a call that lost a race starts
	// over before it fails with [patterns.ErrConflict]. Zero means 16.
	Tries int

	// Parallel is how many rows [Table.Read] reads at once. Zero means 8.
	Parallel int
}

// MaxParts is the most parts that an entity may have: with its head, the limit of
// one transaction is 100 rows.
const MaxParts = 98

const (
	defaultParts    = 16
	defaultTries    = 16
	defaultParallel = 8
)

// ErrTorn says that the rows of an entity did not fit together however often they
// were read: they change faster than they can be read, or somebody else has changed
// or deleted one of them. [Table.Put] writes the entity anew.
var ErrTorn = errors.New("rows of the entity do not fit together")

// ErrParts is an option Parts or Place that is out of range.
var ErrParts = errors.New("part out of range")

// New makes a Table on client, whose table must exist before the first write;
// [Table.Create] makes it. New makes no request. The error names the field of T
// that cannot be stored, or matches [ErrParts].
//
// T is a struct with any number of fields, mapped as [patterns.Table] says, or a
// map[string]any. It needs no key. Fields PartitionKey and RowKey, if it has them,
// are filled by reading, RowKey with the entity's id. Strings, byte slices and
// nested values may be larger than the 64 KiB of one property.
func New[T any](client *aztables.Client, opts *Options) (*Table[T], error) {
	if client == nil {
		return nil, fmt.Errorf("new wide table: client: %w", patterns.ErrNil)
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	codec, err := edm.SplitCodecFor(reflect.TypeFor[T]())
	if err != nil {
		return nil, fmt.Errorf("new wide table: %w", err)
	}
	t := &Table[T]{wire: wire.NewClient(client), codec: codec, tries: o.Tries, parallel: o.Parallel, batchBytes: wire.MaxBatchBytes}
	if t.tries <= 0 {
		t.tries = defaultTries
	}
	if t.parallel <= 0 {
		t.parallel = defaultParallel
	}
	if o.Parts == 0 {
		o.Parts = defaultParts
	}
	if t.layout, err = newLayout(o.Parts, o.Place); err != nil {
		return nil, fmt.Errorf("new wide table: %w", err)
	}
	if !codec.Open() {
		t.names = make(map[string]struct{})
		for _, f := range codec.Fields() {
			t.names[f.Name] = struct{}{}
			if err := t.layout.check(f.Name); err != nil {
				return nil, fmt.Errorf("new wide table: %w", err)
			}
		}
	}
	return t, nil
}

// Client gives back the client that New took.
func (t *Table[T]) Client() *aztables.Client { return t.wire.Table() }

// Create creates the table; a table that exists already is fine. One request.
func (t *Table[T]) Create(ctx context.Context) error { return t.wire.CreateTable(ctx) }

// checkNames refuses names that T cannot have.
func (t *Table[T]) checkNames(names []string) error {
	for _, name := range names {
		_, ok := t.names[name]
		if t.names == nil {
			ok = query.Prop(name).Eq("").Err() == nil && !edm.IsReserved(name) && t.layout.check(name) == nil
		}
		if !ok {
			return &patterns.PropertyError{Property: name, Want: "a property of the type", Got: "none of it"}
		}
	}
	return nil
}

// rowsOf checks key and names the rows of its entity.
func rowsOf(key keys.Key) (entityRows, error) {
	e := entityRows{partition: key.Partition, base: keys.Escape(key.Row) + separator}
	if key.Row == "" {
		return e, fmt.Errorf("%w: an entity needs an id in Key.Row", patterns.ErrBadKey)
	}
	// The longest key that the entity may need.
	return e, keys.Key{Partition: e.partition, Row: e.marker(newVersion())}.Validate()
}
