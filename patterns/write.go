package patterns

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
)

// Do carries out one operation: [Table.Insert], [Table.Upsert], [Table.Replace],
// [Table.Merge] and [Table.Delete] are Do with the operation of their name. Use it for an
// operation whose key was set by [Op.At]. One request. The Item of a delete has only the
// key.
func (t *Table[T]) Do(ctx context.Context, op Op[T]) (Item[T], error) {
	ctx, span := t.txn.Client.Begin(ctx, "table.", op.op.OpName())
	defer span.End()
	r, err := t.txn.Do(ctx, &op.op)
	span.Fail(err)
	return result[T](r, err)
}

// Insert stores v as a new row, or fails with [ErrExists] and changes nothing. One
// request.
//
// If a response was lost, and the SDK's retry finds that the row exists, Insert reads the
// row. With [TableOptions.StampWrites] the row shows whether this call has inserted it, as long as
// no other client has replaced it without keeping the stamps. Without, the result is
// [ErrOutcomeUnknown], even if the row is equal in every property: another client may have
// inserted it.
//
// A repeated or late attempt inserts the row again if another client has deleted it
// meanwhile; [Store.Insert] with [StoreOptions.GuardInserts] does not.
func (t *Table[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	return t.Do(ctx, InsertOp(v))
}

// Upsert stores v whether or not the row exists. One request without a condition: a
// change that another client made since v was read is lost, and a repeated or late attempt
// may overwrite what other clients write after this call.
//
// Zero values are written like all others: a merge of a value in which few fields are set
// overwrites all properties for which T has a field, unless its tag has omitempty or omitzero.
// To merge single properties use [Table.Do] with [UpsertOp] and [Op.Only].
//
// Use [Table.Update] to change
// a row that others change too. The returned Item carries no unknown properties of the
// earlier row.
func (t *Table[T]) Upsert(ctx context.Context, v *T, mode Mode) (Item[T], error) {
	return t.Do(ctx, UpsertOp(v, mode))
}

// Replace replaces the row by item if it still has item's ETag. It fails with
// [ErrConflict] if the row was changed since, and with [ErrNotFound] if it was deleted.
// Unknown properties with which item was read stay; all other properties that are not in
// T are removed. One request.
func (t *Table[T]) Replace(ctx context.Context, item Item[T]) (Item[T], error) {
	return t.Do(ctx, ReplaceOp(item))
}

// Merge writes item's properties over those of the row if it still has item's ETag, and
// keeps the row's other properties. It cannot remove a property: the row keeps the stored
// value of a field that is omitted, such as a zero time. An item that was read in
// part writes only that part. One request.
//
// A property that the row lacked when item was read is not added while its field is zero. With
// azcore.ETagAny it is, because the row may have it now. It may be if the caller has assigned the
// ETag of another version to item, such as one that a [Batch] returned.
func (t *Table[T]) Merge(ctx context.Context, item Item[T]) (Item[T], error) {
	return t.Do(ctx, MergeOp(item))
}

// Delete deletes the row at key. One request. The outcome depends on etag:
//
//   - An ETag of the row: Delete deletes this version. It returns [ErrConflict] if the row
//     has another version, and [ErrNotFound] if there is no row.
//   - azcore.ETagAny: Delete deletes any version. It returns [ErrNotFound] if there is no row.
//   - Empty: Delete deletes any version, and returns nil if there is no row.
//
// If the response to a Delete with an ETag, or with ETagAny, was lost and the row does not
// exist afterwards, it cannot be determined who deleted it: the result is
// [ErrOutcomeUnknown]; with an empty etag it is nil. A Delete with an empty etag or ETagAny
// has no condition on the version: an attempt without a response may be applied late and then
// deletes a row that was inserted since. Pass the row's ETag to exclude this.
func (t *Table[T]) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	_, err := t.Do(ctx, DeleteOp[T](key, etag))
	return err
}

// Update reads the row at key, calls change to modify it, and replaces it under its
// ETag. If another client changed the row meanwhile Update starts over, so change may be
// called several times and must do nothing but modify its argument. An error from change
// ends the update and is returned as it is. Unknown properties stay. The key must not
// change.
//
// Two requests without a conflict, two more for each conflict, at most
// [TableOptions.Tries] times. [ErrNotFound] if there is no row. On a table without
// [TableOptions.StampWrites] a lost response can result in [ErrOutcomeUnknown]: the
// content cannot show whether a counter of 5 was incremented by this call or by another.
// With stamps the outcome is unknown only while the last attempt had no response and the
// row has not changed, because that attempt may still arrive.
func (t *Table[T]) Update(ctx context.Context, key keys.Key, change func(*T) error) (Item[T], error) {
	if change == nil {
		return Item[T]{}, fmt.Errorf("update: function: %w", ErrNil)
	}
	ctx, span := t.txn.Client.Begin(ctx, "table.", "update")
	defer span.End()
	r, err := t.txn.Update(ctx, key, t.tries, func(v any) error { return change(v.(*T)) })
	span.Fail(err)
	return result[T](r, err)
}
