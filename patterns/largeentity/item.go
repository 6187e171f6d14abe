package largeentity

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Item is an entity: the caller's value and what the service keeps with it. An Item
// that was read also remembers which blobs the entity refers to, and which of them
// were read.
type Item[T any] struct {
	Value T
	Key   keys.Key

	// ETag is the version, of the row and thereby of its blobs.
	ETag azcore.ETag

	// Timestamp is the service's time of the last write. It is zero in what a write
	// returns, since the service does not tell it then.
	Timestamp time.Time

	row    patterns.Item[T] // without a value
	blobs  references
	loaded map[string]bool // the properties in blobs that Value has
}

// Blob is the reference of a property that stands in a blob; false where it is a
// property of the row, or zero.
func (i Item[T]) Blob(property string) (Blob, bool) {
	b, ok := i.blobs[property]
	return b, ok
}

// Loaded reports whether Value has the property, as it does unless it stands in a
// blob that was not read.
func (i Item[T]) Loaded(property string) bool {
	_, apart := i.blobs[property]
	return !apart || i.loaded[property]
}

// Meta takes up an Item that was read by [Table.Table], for example in a query:
// fields that stand in blobs are zero, or Streams that can be opened. One that was
// read in part, without its references, is refused: [patterns.ErrProjected]. No request.
func (t *Table[T]) Meta(row patterns.Item[T]) (Item[T], error) {
	if row.Projected() {
		return Item[T]{}, fmt.Errorf("meta: %w", patterns.ErrProjected)
	}
	item := Item[T]{Value: row.Value, Key: row.Key, ETag: row.ETag, Timestamp: row.Timestamp, row: row, loaded: map[string]bool{}}
	var zero T
	item.row.Value = zero
	refs, _, err := referencesOf(row)
	if err != nil {
		return Item[T]{}, err
	}
	item.blobs = refs.clone()
	for i := range t.fields {
		f := &t.fields[i]
		if !f.isZero(&item.Value) {
			// Somebody without this package has given the row a value since.
			delete(item.blobs, f.name)
		}
	}
	t.bind(&item)
	return item, nil
}

// bind makes the Streams of a stored entity ones that can be opened.
func (t *Table[T]) bind(item *Item[T]) {
	for i := range t.fields {
		f := &t.fields[i]
		if ref, ok := item.blobs[f.name]; ok && f.form == stream {
			*f.in(&item.Value).Addr().Interface().(*Stream) = Stream{stored: &storedStream{blobs: t.blobs, container: t.container, property: f.name, ref: ref}}
			item.loaded[f.name] = true
		}
	}
}

// copy is item with maps of its own.
func (i Item[T]) copy() Item[T] {
	i.blobs = i.blobs.clone()
	loaded := make(map[string]bool, len(i.loaded))
	for name, is := range i.loaded {
		loaded[name] = is
	}
	i.loaded = loaded
	return i
}
