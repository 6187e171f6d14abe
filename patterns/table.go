package patterns

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/records"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Table is one table whose rows are values of T. It is safe for concurrent use; it
// starts no goroutine that outlives a call, and needs no closing.
//
// T is a struct; its exported fields are the row's properties. The tag `table:"Name"`
// names a property, `table:",omitempty"` leaves the field out if it is zero, `table:"-"`
// skips it, `table:",json"` stores a nested value as JSON text, `table:",encrypted"` encrypts the property: see [Encryption]. If a field has no table
// tag, its json tag is used, and an embedded aztables.Entity is understood, so structs
// written for aztables work unchanged. A table tag without a name keeps the name, omitempty
// and omitzero of the json tag. MarshalJSON and UnmarshalJSON of T itself are not called: the
// fields and tags decide. Those of a field's type are called if they are for a string, a
// number or a boolean. A field called Timestamp, and one called ETag of type azcore.ETag, are
// filled when a row is read, and never stored.
//
// An int or int64 is stored as Edm.Int64, which is text in JSON, a time.Time as Edm.DateTime,
// and a []byte as Edm.Binary. Programs that pass the same struct through encoding/json to
// aztables store an Edm.Int32 and two Edm.Strings instead, and cannot decode an Edm.Int64 into
// an int. While both programs write:
//
//   - A property that an Item was read with keeps its stored type when the Item, or the value
//     in [Table.Update] and [Store.Update], is written back. An integer that does not fit a
//     stored Edm.Int32 is a [*PropertyError].
//   - New properties, and rows written by [Table.Insert] and [Table.Upsert], have the types of
//     the fields. Declare them: `table:",int32"`, and `table:",string"` for times and byte
//     slices. The other types are int64, double, datetime, guid and binary. A declared type is
//     always written, also in place of another stored type.
//   - Filters compare values of the field's type, declared or not. They do not match a
//     property that is stored with another type.
//
// A field with the option json that is written back keeps the members that its type lacks; a
// zero one with omitempty is stored with these alone. The elements of an array keep theirs if
// the program moves, adds or removes elements: an element is recognized by what it is equal to or
// has most members in common with, and equal ones by their order.
//
// A zero time.Time is omitted, because Edm.DateTime begins in 1601. As an Edm.String it is
// stored.
//
// T may also be aztables.EDMEntity, or a map[string]any with Go values of the exact
// property types (an int counts as an int64), whose keys [TableOptions.Key] returns.
type Table[T any] struct {
	rows    *records.Reader
	txn     *txn.Table
	keyless bool
	keyFunc bool // TableOptions.Key determines the keys, not fields of T
	tries   int
}

// TableOptions are the options of [NewTable]. nil and the zero value select the
// defaults.
type TableOptions[T any] struct {
	// Key returns a value's key. It must be a pure function. If it is nil, T needs string
	// fields named, or tagged, PartitionKey and RowKey, which are filled when a row is
	// read. Fields that Key uses and that are not stored are zero after reading; the row's
	// key is then in the Item. A [Store] needs them stored: what it reads must imply its key.
	Key func(*T) (keys.Key, error)

	// Keyless is for values that do not contain their key. Every operation then names the
	// key, by [Op.At]; operations on an [Item] that was read use the Item's key. An
	// operation without a key fails with [ErrBadKey]. Key is not called.
	Keyless bool

	// StampWrites adds a property azp_stamp to every row written: the identities of its
	// last eight writes, about 110 bytes. The row then shows whether a write whose
	// response was lost was applied. Without it, such an insert, a replace or a merge under an
	// ETag, and a transaction end with [ErrOutcomeUnknown]: content does not show whose it is. Set
	// it for locks and counters, and if programs insert much. It cannot show whether an attempt will still
	// arrive. A blind [Table.Upsert] starts the list anew.
	StampWrites bool

	// Encryption has the keys of the fields with the option encrypted. nil is for a T without such fields.
	Encryption *Encryption

	// KeepJSON makes items that are read keep the JSON of their row, as the service sent it:
	// see [Item.JSON]. It is for programs that pass rows on. It costs the memory of the text. Items of
	// [Project] do not keep it.
	KeepJSON bool

	// Tries is how often [Table.Update] reads and writes before it fails with
	// [ErrConflict]. Zero means 16.
	Tries int

	// Tracing creates a span for each operation of the Table, and of a Store on it: it is the
	// parent of the spans of its requests. A span of Query or Scan ends with the loop. Package
	// otel, a module of its own, creates a provider from OpenTelemetry. No attribute contains a
	// key or a value. The zero value means no spans.
	Tracing tracing.Provider
}

const (
	defaultTries    = 16
	defaultParallel = 8
)

// NewTable returns a Table on client. It makes no request. The error names the field of
// T that cannot be stored. The memory for a reply is limited only if client was built with
// [Accelerate] or [LimitReplies].
func NewTable[T any](client *aztables.Client, opts *TableOptions[T]) (*Table[T], error) {
	var o TableOptions[T]
	if opts != nil {
		o = *opts
	}
	var key func(any) (keys.Key, error)
	if o.Key != nil {
		key = func(v any) (keys.Key, error) { return o.Key(v.(*T)) }
	}
	c, err := newTable(client, reflect.TypeFor[T](), TableOptions[any]{
		Keyless: o.Keyless, StampWrites: o.StampWrites, KeepJSON: o.KeepJSON, Tries: o.Tries, Tracing: o.Tracing, Encryption: o.Encryption,
	}, key)
	if err != nil {
		return nil, fmt.Errorf("new table: %w", err)
	}
	return &Table[T]{rows: c.rows, txn: c.txn, keyless: c.keyless, keyFunc: c.keyFunc, tries: c.tries}, nil
}

// newTable returns the parts of a Table of t, without a type parameter. key is [TableOptions.Key].
func newTable(client *aztables.Client, t reflect.Type, o TableOptions[any], key func(any) (keys.Key, error)) (*Table[any], error) {
	if client == nil {
		return nil, fmt.Errorf("client: %w", ErrNil)
	}
	c := wire.NewClient(client)
	box, err := txn.Box(c, o.Encryption)
	if err != nil {
		return nil, err
	}
	codec, err := edm.SealedCodecFor(t, box)
	if err != nil {
		return nil, err
	}
	if err := azerr.Default(&o.Tries, defaultTries, "Tries"); err != nil {
		return nil, err
	}
	c.Tracer = o.Tracing.NewTracer("azpatterns/patterns", "")
	table := &Table[any]{
		rows:    records.New(fetch.NewSource(c, codec), codec, t),
		txn:     &txn.Table{Client: c, Codec: codec, Zero: func() any { return reflect.New(t).Interface() }, Stamped: o.StampWrites, Origins: new(txn.Origins)},
		keyless: o.Keyless || key == nil && t == reflect.TypeFor[Row](),
		tries:   o.Tries,
	}
	table.rows.Stamped, table.rows.Sent = o.StampWrites, o.KeepJSON
	switch {
	case table.keyless:
	case key != nil:
		table.keyFunc, table.txn.Key = true, key
	case !codec.HasKeys():
		return nil, fmt.Errorf("%v has no fields PartitionKey and RowKey, and TableOptions.Key is not set: %w", t, ErrBadKey)
	default:
		table.txn.Key = table.txn.KeyFields
	}
	return table, nil
}

// Within returns t restricted to one partition: a write of a row of another one, also by a Batch
// or a Bulk, fails with [ErrMixedPartitions] before any request. Within of the result adds a
// restriction. Reads are those of t, of all partitions, and so are [Table.Drop] and [Table.Reencrypt]. It
// shares everything else with t.
func (t *Table[T]) Within(partition string) *Table[T] {
	within := *t
	within.txn = t.txn.Within(partition)
	return &within
}

// Client returns the client that NewTable took.
func (t *Table[T]) Client() *aztables.Client { return t.txn.Client.Table() }

// URL returns the address of the table, without a query. The SDK does not expose it, so
// it is known, and ok is true, only after the first request.
func (t *Table[T]) URL() (url string, ok bool) {
	a, ok := t.txn.Client.Address()
	return a.Base, ok
}

// ServiceTime returns the time by the clock of the service, as its replies to t show it.
// Compare [Item.Timestamp] with it, not with time.Now: the local clock may differ by any
// amount. It is behind the service by the delay of the last reply, but is never ahead of it.
// It is also behind by the time during which this machine was suspended. ok is false
// if no request of t has got a reply yet. No request.
func (t *Table[T]) ServiceTime() (now time.Time, ok bool) { return t.txn.Client.ServiceTime() }

// LatestServiceTime returns the latest time that the service may have now: unlike the
// result of [Table.ServiceTime] it is never behind the service. It may be any amount ahead
// of the service if the last reply was delayed, or if the clock of this machine was set. ok
// is false if no request of t has got a reply yet. No request.
func (t *Table[T]) LatestServiceTime() (latest time.Time, ok bool) {
	return t.txn.Client.LatestServiceTime()
}

// Create creates the table; it is not an error if the table exists. One request.
func (t *Table[T]) Create(ctx context.Context) error { return t.txn.Client.CreateTable(ctx) }

// Drop deletes the table with all its rows; it is not an error if the table does not
// exist or is being deleted. One request. The service needs 40 seconds or more until the
// name can be used again; until then creating a table of that name fails, so use a new
// name.
//
// https://learn.microsoft.com/rest/api/storageservices/delete-table
func (t *Table[T]) Drop(ctx context.Context) error { return t.txn.Client.DropTable(ctx) }

// Key returns the key under which v is stored, checked.
func (t *Table[T]) Key(v *T) (keys.Key, error) {
	if v == nil {
		return keys.Key{}, fmt.Errorf("key: value: %w", ErrNil)
	}
	return t.txn.KeyOf(v)
}
