package patterns

import (
	"fmt"
	"reflect"

	"github.com/azpatterns/azpatterns/internal/edm"
)

// Row is a row whose type is not known before it is read. A Table of Row, which must
// be [TableOptions.Keyless], reads rows of any types in one query; all their
// properties are kept unseen. [As] gives such an Item its type, and
// [Item.Property] looks at one of them before.
type Row struct{}

// As gives an Item of a [Row] the type T, as if it had been read from a Table of T.
// Properties that T has no field for stay with the Item, and survive
// [Table.Replace]. The error names the property that does not fit. No request.
func As[T any](row Item[Row]) (Item[T], error) {
	codec, err := edm.CodecFor(reflect.TypeFor[T]())
	if err != nil {
		return Item[T]{}, fmt.Errorf("as: %w", err)
	}
	item := Item[T]{Key: row.Key, ETag: row.ETag, Timestamp: row.Timestamp}
	var have origin
	if row.origin != nil {
		have = *row.origin
	}
	var rest edm.Unknown
	if err := have.rest.DecodeAs(codec, row.Key.Partition, row.Key.Row, &item.Value, &rest); err != nil {
		return Item[T]{}, fmt.Errorf("as: %w", err)
	}
	if have.rest = rest; !rest.IsZero() || have.stamp != "" || have.selected != nil {
		item.origin = &have
	}
	return item, nil
}

// Property is the value of a property that T has no field for, as the Go value of
// its type: string, bool, int32, int64, float64, time.Time, []byte or [16]byte. It
// is false where the row was read without such a property.
func (i Item[T]) Property(name string) (value any, ok bool) {
	if i.origin == nil {
		return nil, false
	}
	value, ok, err := i.origin.rest.Value(name)
	return value, ok && err == nil
}

// Recast is item with a value of another type: same row, same ETag, same properties
// that neither type has a field for. It carries a value from one version of a type
// to the next. No request.
func Recast[U, T any](item Item[T], value U) Item[U] {
	return Item[U]{Value: value, Key: item.Key, ETag: item.ETag, Timestamp: item.Timestamp, origin: item.origin}
}
