package patterns

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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

	// ETag is the version of the row. It is opaque: compare it, or pass it back. A [Batch] does not
	// change it: [BatchResult] has the new one.
	ETag azcore.ETag

	// Timestamp is the service's time of the last write. It is zero in Items returned by
	// a write, because the service does not return it then.
	Timestamp time.Time

	origin *txn.Origin
	read   azcore.ETag // the version that origin describes
}

// current returns what is known of the version with the item's ETag, which the caller may have
// assigned.
func (i *Item[T]) current() *txn.Origin { return i.origin.At(string(i.read), string(i.ETag)) }

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

// Unknown returns the names of the item's unknown properties, in the order of the row and without
// those that this library has added, whose names begin with azp_.
func (i Item[T]) Unknown() []string {
	if i.origin == nil {
		return nil
	}
	return i.origin.Unknown.Names()
}

// Without returns the item without the named unknown properties: [Table.Replace] then removes
// them from the row. [Table.Merge] does not, because it cannot remove properties. The name of a field
// removes the members of its JSON that T lacks: Replace and Merge then write the value of the field as
// T encodes it. A name that begins with azp_ has no effect. No request.
func (i Item[T]) Without(names ...string) Item[T] {
	if i.origin == nil {
		return i
	}
	o := *i.current()
	i.read = i.ETag
	o.Unknown = o.Unknown.Without(func(name string) bool { return !edm.IsReserved(name) && slices.Contains(names, name) })
	i.origin = &o
	return i
}

// JSON returns the row as the service sent it, with its control members, if the table has
// [TableOptions.KeepJSON], otherwise nil. The caller must not change it. It is not updated when the row
// is written.
func (i Item[T]) JSON() []byte {
	if i.origin == nil {
		return nil
	}
	return i.origin.Sent
}

// WithValue returns item with a value of another type: same row, same ETag, same unknown
// properties. It carries a value from one version of a type to the next. No request.
func WithValue[U, T any](item Item[T], value U) Item[U] {
	return Item[U]{Value: value, Key: item.Key, ETag: item.ETag, Timestamp: item.Timestamp, origin: item.origin, read: item.read}
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
	item := Item[T]{Key: row.Key, ETag: row.ETag, Timestamp: row.Timestamp, read: row.read}
	var origin txn.Origin
	if row.origin != nil {
		origin = *row.origin
	}
	var unknown edm.Unknown
	if err := origin.Unknown.DecodeAs(codec, row.Key.Partition, row.Key.Row, &item.Value, &unknown); err != nil {
		return Item[T]{}, fmt.Errorf("decode: %w", err)
	}
	if origin.Unknown = unknown; !unknown.IsZero() || origin.Stamp != "" || origin.Selected != nil || origin.Sent != nil {
		item.origin = &origin
	}
	return item, nil
}

// EncodeJSON returns the content of item as one JSON object in the form of the Table service: its
// key, then the properties of its value, each with its type unless the JSON shows it, then its
// unknown properties. [DecodeJSON] reads it without loss.
//
// The ETag, the Timestamp and azp_stamp are not part of it. Rows with equal content therefore
// have equal JSON if T has a field, or a map (`table:",bag,reserved"`), for every property; the
// properties of a map are in the order of their names. Properties that were read and not changed
// are spelled as they were stored: the service spells equal values alike, Azurite does not.
//
// T is a type that [NewTable] accepts. A [*PropertyError] names a property that no row can
// store. No request.
func EncodeJSON[T any](item Item[T]) ([]byte, error) {
	codec, err := edm.CodecFor(reflect.TypeFor[T]())
	if err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	e := edm.Envelope{PartitionKey: item.Key.Partition, RowKey: item.Key.Row, Reserved: true}
	if origin := item.current(); origin != nil {
		e.Unknown = &origin.Unknown
	}
	text, err := codec.Append(nil, &item.Value, e)
	if err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return text, nil
}

// EncodeRow is [EncodeJSON] of the row with its version: it has the members odata.etag and Timestamp,
// as the service sends them, unless the item's ETag or Timestamp is zero. [DecodeJSON] reads them.
func EncodeRow[T any](item Item[T]) ([]byte, error) {
	text, err := EncodeJSON(item)
	if err != nil {
		return nil, err
	}
	row := []byte("{")
	if item.ETag != "" {
		etag, err := json.Marshal(string(item.ETag))
		if err != nil {
			return nil, fmt.Errorf("encode row: %w", err)
		}
		row = append(append(append(row, `"odata.etag":`...), etag...), ',')
	}
	if !item.Timestamp.IsZero() {
		row = item.Timestamp.UTC().AppendFormat(append(row, `"Timestamp":"`...), time.RFC3339Nano)
		row = append(row, `",`...)
	}
	return append(row, text[1:]...), nil
}

// DecodeJSON reads what [EncodeJSON] has written, or a row as the Table service writes it with
// minimal metadata, as if it had been read from a Table of T. The Item is not [Item.Projected].
// It has the ETag and the Timestamp of text, if there are any. azp_stamp, properties that are
// null, and members with a dot or an @ in their names are ignored.
//
// DecodeJSON refuses what is not one JSON object with both keys, a member that occurs twice,
// invalid UTF-8, half of a surrogate pair, and a value that does not fit its field. Of an
// unknown property it also refuses a value that its type cannot represent: a whole number
// without an annotation must be an Edm.Int32, and a time has at most seven digits of a
// second. Limits of size are checked when the row is written. A [*PropertyError] names the
// property; no error contains a value. No request.
func DecodeJSON[T any](text []byte) (Item[T], error) {
	codec, err := edm.CodecFor(reflect.TypeFor[T]())
	if err != nil {
		return Item[T]{}, fmt.Errorf("decode JSON: %w", err)
	}
	var item Item[T]
	var m edm.Meta
	var unknown edm.Unknown
	if err := codec.DecodeWritten(text, &item.Value, &m, &unknown); err != nil {
		return Item[T]{}, fmt.Errorf("decode JSON: %w", err)
	}
	item.Key, item.ETag, item.Timestamp = keys.Key{Partition: m.PartitionKey, Row: m.RowKey}, azcore.ETag(m.ETag), m.Timestamp
	item.origin, item.read = txn.NewOrigin(&m, &unknown, nil, false), item.ETag
	return item, nil
}

// itemOf returns a record as an Item; a record without a value has the zero T.
func itemOf[T any](r *txn.Record) Item[T] {
	item := Item[T]{Key: r.Key, ETag: azcore.ETag(r.ETag), Timestamp: r.Timestamp, origin: r.Origin, read: azcore.ETag(r.ETag)}
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
	return itemOf[T](&r), nil
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
	return &txn.Record{Value: &i.Value, Key: i.Key, ETag: string(i.ETag), Timestamp: i.Timestamp, Origin: i.current()}
}
