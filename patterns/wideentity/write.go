package wideentity

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Writes of up to 4 MiB are one transaction. Larger ones are staged, see the package's
// documentation: instead of the transaction, they make one request for each 4 MiB and one
// more, and a last one if staged rows are replaced. In both cases readers see either all
// of a write or nothing.
//
// If a response is lost, the head is read to find out whether the write was applied: one
// more request.

// Insert stores v as a new entity, or fails with [patterns.ErrExists] and changes nothing.
// One request; two with [Options.Plain].
//
// If a request of Insert or Put gets no reply, it may insert the entity a second time, or
// late, after another client has deleted it; a write that is staged cannot. [Table.Replace]
// is applied once at most.
func (t *Table[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	r, err := t.engine.Insert(ctx, pointer(v))
	return itemOf[T]("insert", r, err)
}

// Replace stores item.Value in place of the entity that item was read from, if that still
// has item's ETag. It fails with [patterns.ErrConflict] if the entity was changed since,
// and with [patterns.ErrNotFound] if it was deleted. The entity's unknown properties stay;
// all other properties that are not in item.Value are removed. An item that was read in
// part is refused with [patterns.ErrProjected]. One request.
func (t *Table[T]) Replace(ctx context.Context, item Item[T]) (Item[T], error) {
	r, err := t.engine.Replace(ctx, item.record())
	return itemOf[T]("replace", r, err)
}

// Put stores v whether or not the entity exists, and whatever its version. A change that
// another client made since v was read is lost, and so are unknown properties. Two
// requests, and two for each retry after a conflict, at most [Options.Tries] times.
func (t *Table[T]) Put(ctx context.Context, v *T) (Item[T], error) {
	r, err := t.engine.Put(ctx, pointer(v))
	return itemOf[T]("put", r, err)
}

// Merge stores the named properties of item.Value over those of the entity, if that still
// has item's ETag, and keeps its others. It changes only the rows of these properties, and
// the head. A merge cannot remove a property: it is an error if item.Value has no value
// for one (nil, or omitted because it is empty). One request, of at most 4 MiB; if it
// would be larger, the error is [patterns.ErrTooLarge] and names the largest property.
//
// If item.ETag is azcore.ETagAny, the entity may have any version, but must exist: otherwise Merge
// fails with [patterns.ErrNotFound]. The item then needs Key and Value only, and the one that is
// returned has these properties only: [Item.Projected]. Two requests, and two for each retry after
// a conflict, at most [Options.Tries] times.
//
// https://learn.microsoft.com/rest/api/storageservices/merge-entity
func (t *Table[T]) Merge(ctx context.Context, item Item[T], properties ...string) (Item[T], error) {
	r, err := t.engine.Merge(ctx, item.record(), properties)
	return itemOf[T]("merge", r, err)
}

// Update reads the entity at key, lets alter change it, and stores the rows that differ
// then, under the entity's ETag. If another client has changed the entity in between, it
// starts over, so alter may run several times and must do nothing but change its argument.
// An error from alter ends the update and is returned as it is. Unknown properties stay.
//
// Two requests, one if alter changed nothing; two for each retry after a conflict, at most
// [Options.Tries] times. It fails with [patterns.ErrNotFound] if the entity does not
// exist.
func (t *Table[T]) Update(ctx context.Context, key keys.Key, alter func(*T) error) (Item[T], error) {
	if alter == nil {
		return Item[T]{}, fmt.Errorf("update: function: %w", patterns.ErrNil)
	}
	var refused error
	r, err := t.engine.Update(ctx, key, func(v any) error {
		refused = alter(v.(*T))
		return refused
	})
	if refused != nil {
		return Item[T]{}, refused
	}
	return itemOf[T]("update", r, err)
}

// Delete deletes the entity at key, all rows in one transaction. If etag is "", it deletes
// any version, and it is not an error if the entity does not exist. If etag is
// azcore.ETagAny, it deletes any version, but the entity must exist. Any other etag must
// be that of the entity; otherwise Delete fails with [patterns.ErrConflict]. Two requests,
// and two for each retry after a conflict; one if the entity does not exist.
//
// If the response to a Delete with an etag is lost and the entity does not exist
// afterwards, it cannot be determined which client deleted it: the error is
// [patterns.ErrOutcomeUnknown].
func (t *Table[T]) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	return failed("delete", t.engine.Delete(ctx, key, string(etag)))
}
