package secondaryindex

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/records"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Reader reads an index. It is safe for concurrent use.
//
// The parameter partition of its methods is the partition key of the primaries. In an
// index with [Options.Partition] it is passed to that function. A query for a [Prefix] or a
// [Range] of such an index covers one partition of the index, which [Values.In] names.
type Reader[T any] struct {
	index  *Index[T]
	store  *patterns.Store[T]
	copies *records.Reader // of row[T]
	err    error           // of each call
}

// row is a row of an index: the copy, and what the library adds to it. View is "" in a row
// of a plain index.
type row[T any] struct {
	Copy  T      `table:",inline"`
	PK    string `table:"azp_pk,reserved"`
	RK    string `table:"azp_rk,reserved"`
	View  string `table:"azp_view,reserved"`
	State string `table:"azp_state,reserved"`
}

// text returns the text property of that name which the library added.
func (r *row[T]) text(name string) (value string, ok bool) {
	switch name {
	case view.PropOwnerPK:
		value = r.PK
	case view.PropOwnerRK:
		value = r.RK
	case view.PropView:
		value = r.View
	case view.PropState:
		value = r.State
	}
	return value, r.View != ""
}

// On returns the reader of ix in store. It makes no request. If ix is not one of the store's
// views, or is invalid, each call of the reader fails with [patterns.ErrBadView] before any
// request.
func (ix *Index[T]) On(store *patterns.Store[T]) *Reader[T] {
	if ix == nil {
		ix = new(Index[T])
		ix.def.Refuse(fmt.Errorf("index: %w", patterns.ErrNil))
	}
	r := &Reader[T]{index: ix, store: store}
	client, err := naming.Client(store, ix, ix.table)
	if r.err = err; err == nil {
		r.copies, r.err = records.Open(client, reflect.TypeFor[row[T]](), store.Engine().Table.Codec)
	}
	return r
}

// Entry is an entry of an index: the copy of a primary.
type Entry[T any] struct {
	// Value is the copy. Its fields PartitionKey and RowKey, if it has them, contain the
	// primary's key. In a slim index the properties that are not copied are zero.
	Value T

	// Indexed is the indexed value, in lower case if the index folds.
	Indexed string

	// Primary is the key of the primary.
	Primary keys.Key

	// Key, ETag and Timestamp are those of the copy's own row.
	Key       keys.Key
	ETag      azcore.ETag
	Timestamp time.Time

	projected bool // Value has selected properties only
	reserved  bool // the row has no copy yet
}

// ErrNonUnique means that [Reader.Get] was called for an index that is not unique.
var ErrNonUnique = azerr.Sentinel("the index is not unique")

// Get returns the entry of value. It fails with [patterns.ErrNotFound] if there is none,
// and with [ErrNonUnique] if the index may have several: use [Reader.Query] with [Equal].
// One request.
//
// A new primary is found from its commit on. If its copy has not been written yet, because the change is in progress or
// was left to a worker, Get reads the primary, a second request, and returns what the copy will contain. A copy that
// was written may be outdated: use [Reader.GetFresh].
func (r *Reader[T]) Get(ctx context.Context, partition, value string) (Entry[T], error) {
	e, err := r.get(ctx, partition, value)
	if err != nil || !e.reserved {
		return e, err
	}
	// No other primary had the value at the moment at which this one is read.
	primary, err := r.store.Engine().Get(ctx, e.Primary)
	if err == nil {
		err = r.imply(primary.Value.(*T), &e)
	}
	if err != nil {
		return Entry[T]{}, r.fail("get", err)
	}
	return e, nil
}

// imply fills in what the copy at a reserved row will contain.
func (r *Reader[T]) imply(primary *T, e *Entry[T]) error {
	rows, err := r.index.rows(primary)
	if err == nil && (len(rows) != 1 || rows[0].Key != e.Key) {
		err = patterns.ErrNotFound
	}
	if err != nil {
		return err
	}
	copied := row[T]{Copy: *r.index.content(primary)}
	if r.index.only != nil {
		r.copies.Keep(&txn.Record{Value: &copied}, r.index.only)
	}
	r.index.def.Type.SetKey(&copied.Copy, e.Primary)
	e.Value, e.reserved = copied.Copy, false
	return nil
}

// get is Get. It also returns a row that is reserved.
func (r *Reader[T]) get(ctx context.Context, partition, value string) (Entry[T], error) {
	if r.err != nil {
		return Entry[T]{}, r.fail("get", r.err)
	}
	if r.index.layout.shared {
		return Entry[T]{}, r.fail("get", ErrNonUnique)
	}
	row, err := r.index.layout.row(value, "")
	if err != nil {
		return Entry[T]{}, r.fail("get", err)
	}
	e, err := r.at(ctx, keys.Key{Partition: r.index.partitionOf(partition, value), Row: row})
	if err != nil {
		return Entry[T]{}, r.fail("get", err)
	}
	return e, nil
}

// at reads the entry in the row at key. The row may be reserved.
func (r *Reader[T]) at(ctx context.Context, key keys.Key) (Entry[T], error) {
	page, err := r.copies.Get(ctx, key)
	if err != nil {
		return Entry[T]{}, err
	}
	defer r.copies.Release(page)
	e, ok := r.entry(&page.Records[0], nil)
	if !ok {
		return Entry[T]{}, patterns.ErrNotFound
	}
	return e, nil
}

// entry converts a row to an entry. ok is false if the row is not one of the index. selected are the properties that were asked for, nil for all.
func (r *Reader[T]) entry(record *txn.Record, selected []string) (e Entry[T], ok bool) {
	read := record.Value.(*row[T])
	owner, ok := view.OwnerOf(read.text)
	if !ok {
		owner.View = r.index.def.Name
		owner.Primary, ok = r.index.ownerOf(&read.Copy, record.Key)
	}
	if !ok || owner.View != r.index.def.Name {
		return e, false
	}
	value, ok := r.index.layout.value(record.Key.Row)
	if !ok {
		return e, false
	}
	r.index.def.Type.SetKey(&read.Copy, owner.Primary)
	if at, ok := r.store.Engine().Views.Expires(&read.Copy); ok && !owner.Reserved && r.copies.Source.Age(at) > 0 {
		return e, false
	}
	if selected != nil {
		r.copies.Keep(record, selected)
		r.index.def.Type.SetKey(&read.Copy, owner.Primary)
	}
	return Entry[T]{
		Value: read.Copy, Indexed: value, Primary: owner.Primary,
		Key: record.Key, ETag: azcore.ETag(record.ETag), Timestamp: record.Timestamp, projected: selected != nil, reserved: owner.Reserved,
	}, true
}

// fail returns err with the operation and the name of the index.
func (r *Reader[T]) fail(op string, err error) error {
	return fmt.Errorf("%s: index %q: %w", op, r.index.def.Name, err)
}
