package patterns

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Insert stores v as a new row, or fails with [ErrExists] and changes nothing.
// One request.
//
// When a reply was lost, and the SDK's own repetition finds the row there, Insert
// reads it: a row equal in every property counts as this call's own. Where two
// writers may insert equal rows and only one may win, set
// [TableOptions.StampWrites]; then [ErrExists] says that the row that is there now
// is another's.
func (t *Table[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	return t.Do(ctx, InsertOp(v))
}

// Upsert stores v whether the row exists or not. One request, no condition: a
// change that someone else made since v was read is lost. Use [Table.Update] to
// change a row that others change too. The Item returned knows nothing of other
// properties that the row had before.
func (t *Table[T]) Upsert(ctx context.Context, v *T, mode Mode) (Item[T], error) {
	return t.Do(ctx, UpsertOp(v, mode))
}

// Replace replaces the row by item, if it still has item's ETag: [ErrConflict]
// where it was changed since, [ErrNotFound] where it is gone. Properties that item
// was read with and that T has no field for stay; all others not in T are removed.
// One request.
func (t *Table[T]) Replace(ctx context.Context, item Item[T]) (Item[T], error) {
	return t.Do(ctx, ReplaceOp(item))
}

// Merge writes item's properties over those of the row, if it still has item's
// ETag, and keeps the row's others. It cannot remove a property. An item that was
// read in part writes back that part only. One request.
func (t *Table[T]) Merge(ctx context.Context, item Item[T]) (Item[T], error) {
	return t.Do(ctx, MergeOp(item))
}

// Delete deletes the row at key. An empty etag means: if it exists, whatever its
// version; a missing row is then fine. azcore.ETagAny means: whatever its version,
// but it must exist. Any other etag must be the row's: [ErrConflict] if it is not.
// One request.
//
// When the reply to a conditional Delete was lost and the row is gone afterwards,
// nothing tells who deleted it: the answer is [ErrOutcomeUnknown].
func (t *Table[T]) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	_, err := t.Do(ctx, DeleteOp[T](key, etag))
	return err
}

// send carries out one change and, where its outcome is open, finds it out.
func (t *Table[T]) send(ctx context.Context, c change) (string, error) {
	etag, err := t.wire.Write(ctx, c.Write)
	var e *azerr.Error
	if err == nil || !errors.As(err, &e) || !e.Unsure {
		return etag, unwrapSingle(err)
	}
	etags, err := t.settle(ctx, []change{c}, e)
	if err != nil {
		return "", err
	}
	return etags[0], nil
}

// unwrapSingle takes off the batch in which a single write had to travel.
func unwrapSingle(err error) error {
	var b *wire.BatchFailure
	if errors.As(err, &b) {
		return b.Cause
	}
	return err
}

// written is the Item of a row just written.
func (t *Table[T]) written(op *Op[T], c *change, etag string) Item[T] {
	item := Item[T]{Key: c.key(), ETag: azcore.ETag(etag), origin: op.origin}
	if op.value == nil {
		return item
	}
	item.Value = *op.value
	if !t.stamped && len(op.texts) == 0 {
		return item
	}
	var o origin
	if op.origin != nil {
		o = *op.origin
	}
	o.rest = op.with(o.rest)
	if t.stamped {
		o.stamp, o.version = addStamp(c.id, c.base), item.ETag
	}
	item.origin = &o
	return item
}

// Update reads the row at key, lets change alter it, and replaces it under its
// ETag; when someone else was faster it starts over, so change may run several
// times and must do nothing but alter its argument. An error from change ends the
// update and is returned as it is. Properties without a field in T stay. The key
// must not change.
//
// Two requests without a race, two more for each lost one, at most
// [TableOptions.UpdateTries] times. [ErrNotFound] where there is no row. On a
// table without [TableOptions.StampWrites] a lost reply can give
// [ErrOutcomeUnknown]: whether a counter that reads 5 was raised by this call or by
// another, its content cannot tell. With them it stays unknown while the last try had
// no answer and the row has not changed, for the try may still be on its way.
func (t *Table[T]) Update(ctx context.Context, key keys.Key, change func(*T) error) (Item[T], error) {
	if change == nil {
		return Item[T]{}, fmt.Errorf("update: function: %w", ErrNil)
	}
	for try := 1; ; try++ {
		item, err := t.Get(ctx, key)
		if err != nil {
			return Item[T]{}, err
		}
		if err := change(&item.Value); err != nil {
			return Item[T]{}, err
		}
		op := ReplaceOp(item)
		c, err := t.prepare(&op, make([]byte, 0, t.rowSize.Load()))
		if err != nil {
			return Item[T]{}, err
		}
		c.rmw = true
		etag, err := t.send(ctx, c)
		if err == nil {
			return t.written(&op, &c, etag), nil
		}
		if !errors.Is(err, ErrConflict) || errors.Is(err, ErrOutcomeUnknown) || try >= t.tries {
			return Item[T]{}, err
		}
		if err := pause(ctx, try); err != nil {
			return Item[T]{}, err
		}
	}
}
