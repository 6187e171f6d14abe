package patterns

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// Item is a row: the caller's value and what the service keeps with it.
//
// An Item that was read also remembers, unseen, the row's properties that T has no
// field for; [Table.Replace] writes them back. An Item made by hand has none.
type Item[T any] struct {
	Value T
	Key   keys.Key

	// ETag is the version. It is opaque: compare it, hand it back.
	ETag azcore.ETag

	// Timestamp is the service's time of the last write. It is zero in what a
	// write returns, since the service does not tell it then.
	Timestamp time.Time

	origin *origin
}

// origin is what an Item remembers of how it was read.
type origin struct {
	rest     edm.Unknown // properties without a field
	stamp    string      // the row's write stamps
	version  azcore.ETag // that has them
	selected []string    // the properties that were asked for, nil for all
}

// Projected reports whether the item was read in part, by [QueryOptions.Select].
func (i Item[T]) Projected() bool { return i.origin != nil && i.origin.selected != nil }
