package wideentity

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/widerow"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Table is a table of wide entities: values of T, each stored in several rows. It is safe
// for concurrent use; it starts no goroutine that outlives a call, and needs no closing.
// The operations of a zero Table return [patterns.ErrNil].
type Table[T any] struct{ engine *widerow.Table }

// Options are the options of [New]. nil and the zero value select the defaults.
type Options[T any] struct {
	// Key returns the key of a value: the partition key and, as Row, the entity's id. It must be a
	// pure function. If it is nil, T needs string fields named, or tagged, PartitionKey and RowKey;
	// in a map these are properties, which are not stored twice.
	Key func(*T) (keys.Key, error)

	// Parts is the number of rows over which the properties of an entity are distributed,
	// 1 to [MaxParts]. Zero means 16, which is enough for about 2,500 properties; for more,
	// use one part for each 150 properties. Rows of parts without properties do not exist.
	//
	// Parts may change while the table has entities. Entities stored before stay readable
	// and keep their rows when they are merged into; [Table.Replace], [Table.Put] and
	// [Table.Update] move them to the new number of parts.
	Parts int

	// PartOf returns the part of a property, 1 to Parts: for example (day-1)/251+1 for the
	// property "Day300". If it is nil, a hash of the name selects the part. It must be a
	// pure function. Its result for a name in use must not change unless Parts changes too.
	PartOf func(property string) int

	// Plain stores rows as the guide prints them, which programs without this package can
	// read and write: all 252 properties of a row belong to the entity, and only row 00 is
	// added, by the first write. Rows that such a program has stored are an entity without
	// row 00, which is read, changed and deleted like any other. Every property must be in
	// the row that PartOf returns; otherwise reads, Merge and Update return [ErrForeignRow],
	// and only Put and Delete are possible. The package documentation describes the rows.
	Plain bool

	// Tries is how often a read that found parts of different versions reads before it
	// fails with [ErrTorn], and how often Put, Update, Delete and a Merge into any version run before they fail
	// with [patterns.ErrConflict]. Zero means 16.
	Tries int

	// Encryption has the keys of the fields with the option encrypted, whose values are bound to the entity:
	// to the partition key, the row key of row 00, the property and the table. nil is for a T without such fields.
	Encryption *patterns.Encryption

	// Parallel is the largest number of rows that [Table.GetOnly] reads concurrently. Zero
	// means 8.
	Parallel int
}

// MaxParts is the largest number of parts of an entity, 98: a transaction has at most 100
// operations, of which the head and the marker need two.
const MaxParts = widerow.MaxParts

var (
	// ErrTorn: the rows of an entity did not belong to one version, however often they were
	// read. Either they change faster than they can be read, or another program has changed
	// or deleted one of them; then [Table.Put] repairs the entity.
	ErrTorn = widerow.ErrTorn

	// ErrForeignRow: a row that does not belong to the entity has the key that one of its
	// parts needs, for example a row of the guide's own layout, or a child of another
	// pattern. Nothing was written. The row must be deleted or moved, or the entity stored
	// under another id. If it has the key of the head, row 00, reads return the error too, and
	// Insert returns [patterns.ErrExists]. With [Options.Plain] all rows with keys of parts
	// belong to the entity, and the error means that one has a property that belongs to
	// another.
	ErrForeignRow = widerow.ErrForeignRow

	// ErrParts: [Options.Parts], or a result of [Options.PartOf], is out of range.
	ErrParts = widerow.ErrParts
)

// New returns a Table on client. It makes no request. The table must exist before the
// first write; [Table.Create] creates it. The error names the field of T that cannot be
// stored, or matches [ErrParts], or [patterns.ErrBadKey] if values have no key.
//
// T is a struct with any number of fields, mapped as [patterns.Table] describes, or a
// map[string]any. If it has fields PartitionKey and RowKey, reads fill
// them, RowKey with the entity's id. Strings, byte slices and nested values may be larger
// than the 64 KiB of one property.
func New[T any](client *aztables.Client, opts *Options[T]) (*Table[T], error) {
	o := *cmp.Or(opts, &Options[T]{})
	var key func(any) (keys.Key, error)
	if o.Key != nil {
		key = func(v any) (keys.Key, error) { return o.Key(v.(*T)) }
	}
	engine, err := widerow.New(client, reflect.TypeFor[T](), key, widerow.Options{
		Parts: o.Parts, PartOf: o.PartOf, Plain: o.Plain, Tries: o.Tries, Parallel: o.Parallel, Encryption: o.Encryption,
	})
	if err != nil {
		return nil, fmt.Errorf("new wide table: %w", err)
	}
	return &Table[T]{engine}, nil
}

// Client returns the client that New took.
func (t *Table[T]) Client() *aztables.Client {
	if t.engine == nil {
		return nil
	}
	return t.engine.Client.Table()
}

// Create creates the table; it is not an error if the table exists. One request.
func (t *Table[T]) Create(ctx context.Context) error {
	if t.engine == nil {
		return fmt.Errorf("create table: table: %w", patterns.ErrNil)
	}
	return t.engine.Client.CreateTable(ctx)
}
