package patterns

import (
	"fmt"
	"reflect"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
)

// Item is a row: the caller's value and its metadata.
//
// Items returned by a read also carry the row's unknown properties, those for which T has
// no field; [Table.Replace] writes them back. An Item that the caller makes has none. An
// Item is a value: it may be read concurrently while no goroutine changes it or what its
// Value refers to.
type Item[T any] struct {
	Value T
	Key   keys.Key

	// ETag is the version of the row. It is opaque: compare it, or pass it back.
	ETag azcore.ETag

	// Timestamp is the service's time of the last write. It is zero in Items returned by
	// a write, because the service does not return it then.
	Timestamp time.Time

	origin *txn.Origin
}

// Projected reports whether the item was read in part, by [QueryOptions.Select].
func (i Item[T]) Projected() bool { return i.origin != nil && i.origin.Selected != nil }

// Property returns the value of an unknown property, as the Go value of its type:
// string, bool, int32, int64, float64, time.Time, []byte or [16]byte. ok is false if
// the row was read without such a property.
func (i Item[T]) Property(name string) (value any, ok bool) {
	if i.origin == nil {
		return nil, false
	}
	value, ok, err := i.origin.Unknown.Value(name)
	return value, ok && err == nil
}

// WithValue returns item with a value of another type: same row, same ETag, same unknown
// properties. It carries a value from one version of a type to the next. No request.
func WithValue[U, T any](item Item[T], value U) Item[U] {
	return Item[U]{Value: value, Key: item.Key, ETag: item.ETag, Timestamp: item.Timestamp, origin: item.origin}
}

// Row is a row whose type is not known before it is read. A Table of Row reads rows of any
// types in one query; all their properties are unknown properties. [Item.Property] returns
// one of them, [Decode] all of them. Filters and [QueryOptions.Select] may name any property.
// Without a [TableOptions.Key], the table is [TableOptions.Keyless].
type Row struct{}

// Decode returns row as an Item of T, as if it had been read from a Table of T.
// Properties for which T has no field stay with the Item, and are written back by
// [Table.Replace]. The error names the property that does not fit. No request.
func Decode[T any](row Item[Row]) (Item[T], error) {
	codec, err := edm.CodecFor(reflect.TypeFor[T]())
	if err != nil {
		return Item[T]{}, fmt.Errorf("decode: %w", err)
	}
	item := Item[T]{Key: row.Key, ETag: row.ETag, Timestamp: row.Timestamp}
	var origin txn.Origin
	if row.origin != nil {
		origin = *row.origin
	}
	var unknown edm.Unknown
	if err := origin.Unknown.DecodeAs(codec, row.Key.Partition, row.Key.Row, &item.Value, &unknown); err != nil {
		return Item[T]{}, fmt.Errorf("decode: %w", err)
	}
	if origin.Unknown = unknown; !unknown.IsZero() || origin.Stamp != "" || origin.Selected != nil {
		item.origin = &origin
	}
	return item, nil
}

// itemOf returns a record as an Item; a record without a value has the zero T.
func itemOf[T any](r txn.Record) Item[T] {
	item := Item[T]{Key: r.Key, ETag: azcore.ETag(r.ETag), Timestamp: r.Timestamp, origin: r.Origin}
	if v, ok := r.Value.(*T); ok && v != nil {
		item.Value = *v
	}
	return item
}

// result is itemOf for the results of a write.
func result[T any](r txn.Record, err error) (Item[T], error) {
	if err != nil {
		return Item[T]{}, err
	}
	return itemOf[T](r), nil
}

// pointer returns v as an interface that is nil if v is.
func pointer[T any](v *T) any {
	if v == nil {
		return nil
	}
	return v
}

// recordOf is the reverse of itemOf. The record refers to a copy of the value.
func recordOf[T any](i Item[T]) *txn.Record {
	return &txn.Record{Value: &i.Value, Key: i.Key, ETag: string(i.ETag), Timestamp: i.Timestamp, Origin: i.origin}
}
