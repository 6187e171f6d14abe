package wideentity

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/widerow"
	"github.com/azpatterns/azpatterns/keys"
)

// Item is a wide entity: the caller's value and its metadata.
//
// Items returned by a read also carry the version of each row, and the entity's unknown
// properties, those for which T has no field; [Table.Replace] writes them back. An Item
// is a value: it may be read concurrently while no goroutine changes it or what its Value
// refers to.
type Item[T any] struct {
	Value T

	// Key is the partition key and, as Row, the entity's id.
	Key keys.Key

	// ETag is the version of the whole entity. It is "" if [Table.GetOnly] read only one row.
	ETag azcore.ETag

	// Timestamp is the service's time of the last write. It is zero in Items returned by a
	// write, because the service does not return it then.
	Timestamp time.Time

	origin *widerow.Origin
}

// Projected reports whether the item was read in part, by [Table.GetOnly].
func (i Item[T]) Projected() bool { return i.origin != nil && i.origin.Selected != nil }

func (i *Item[T]) record() widerow.Record {
	return widerow.Record{Value: &i.Value, Key: i.Key, ETag: string(i.ETag), Timestamp: i.Timestamp, Origin: i.origin}
}

// itemOf returns the Item of r; or err, preceded by the name of the operation.
func itemOf[T any](op string, r widerow.Record, err error) (Item[T], error) {
	if err != nil {
		return Item[T]{}, failed(op, err)
	}
	return Item[T]{Value: *r.Value.(*T), Key: r.Key, ETag: azcore.ETag(r.ETag), Timestamp: r.Timestamp, origin: r.Origin}, nil
}

// failed returns err, preceded by the name of the operation; nil if err is nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}

// pointer returns v, as a nil interface if v is nil.
func pointer[T any](v *T) any {
	if v == nil {
		return nil
	}
	return v
}
