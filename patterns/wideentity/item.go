package wideentity

import (
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// Item is a wide entity: the caller's value and what the service keeps with it.
//
// An Item that was read also remembers, unseen, the version of each row, and the
// properties that T has no field for; [Table.Replace] writes those back.
type Item[T any] struct {
	Value T

	// Key is the partition key and, as Row, the entity's id.
	Key keys.Key

	// ETag is the version of the whole entity. It is "" in what [Table.Read] gives of
	// one row: nothing but that row was read.
	ETag azcore.ETag

	// Timestamp is the service's time of the last write. It is zero in what a write
	// returns, since the service does not tell it then.
	Timestamp time.Time

	head *head
	rest edm.Unknown
	only []string // the properties that were asked for, nil for all
}

// Projected reports whether the item was read in part, by [Table.Read].
func (i *Item[T]) Projected() bool { return i.only != nil }

// covers reports whether the item has values of the properties.
func (i *Item[T]) covers(names []string) bool {
	return i.only == nil || !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(i.only, name) })
}

// of completes an item by the head that it stands under.
func (i *Item[T]) of(h *head) {
	i.head = h
	i.ETag, i.Timestamp = azcore.ETag(h.etag), h.timestamp
}
