package wideentity

import (
	"context"

	"github.com/azpatterns/azpatterns/keys"
)

// Get reads the whole entity at key, or fails with [patterns.ErrNotFound]. One request,
// unless the service returns several pages: then one for each.
//
// A single page is a snapshot of its rows; several pages are not. Get returns them only if
// each row has the version that the head contains for it. Otherwise a writer has changed
// the entity between the pages, and Get reads again after a pause, at most [Options.Tries]
// times; then it fails with [ErrTorn].
func (t *Table[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	r, err := t.engine.Get(ctx, key)
	return itemOf[T]("get", r, err)
}

// GetOnly reads the named properties of the entity at key, from the rows that have them, or
// fails with [patterns.ErrNotFound]. Other fields of the value are zero. The item is
// [Item.Projected].
//
// Properties of one row take one request, a point read of that row; the item then has no
// ETag. Properties of k rows take k+1 requests, at most [Options.Parallel] of them
// concurrently: the rows, and the head, which shows whether they belong together. If they
// do not, GetOnly reads again as Get does. Without properties it is one request for the head:
// it shows whether the entity exists, and its ETag.
//
// A value over 64 KiB is in several rows. If an entity was staged, or stored with another
// number of parts, its properties may be in other rows until it is next replaced as a
// whole: then GetOnly reads the head, and after it the rows.
func (t *Table[T]) GetOnly(ctx context.Context, key keys.Key, properties ...string) (Item[T], error) {
	r, err := t.engine.Read(ctx, key, properties)
	return itemOf[T]("read", r, err)
}
