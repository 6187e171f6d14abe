package patterns

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Insert stores a new entity and the rows derived from it, or fails with [ErrExists] or
// [*DuplicateError] and changes nothing.
//
// If the entity has no rows outside its partition, and an attempt had no reply, a repeated
// or late attempt inserts the entity again if another client has deleted it meanwhile.
// [StoreOptions.GuardInserts] prevents that.
//
// One request if all rows are copies in the entity's partition. One more to read each
// row that is a list or that is merged into. Remote rows are written afterwards; see
// [Store.Explain].
func (s *Store[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	return result[T](put(ctx, s.engine, pointer(v), outbox.Intent{Op: "insert", Known: true}))
}

// Put stores v whether or not the entity exists, and brings the rows derived from it up
// to date. Unknown properties of the row stay. Two requests if all rows are copies in the
// entity's partition.
//
// Put overwrites what other clients changed since the caller read the entity, or while Put
// repeats a write whose outcome is unknown; use [Store.Update] for a change, or
// [Store.PutItem].
func (s *Store[T]) Put(ctx context.Context, v *T) (Item[T], error) {
	return result[T](put(ctx, s.engine, pointer(v), outbox.Intent{Op: "put", Reread: true, Repeatable: true}))
}

// PutItem is Put for an entity that was read, which saves the read: one request if all
// rows are copies in the entity's partition. was must be unchanged since it was read.
// [ErrConflict] if the entity was changed since, [ErrNotFound] if it was deleted.
func (s *Store[T]) PutItem(ctx context.Context, was Item[T], v *T) (Item[T], error) {
	return result[T](putItem(ctx, s.engine, recordOf(was), pointer(v)))
}

// Update reads the entity at key, calls change to modify it, and stores it together with
// the rows derived from it. If another client changed the entity meanwhile Update starts
// over, so change may be called several times and must do nothing but modify its
// argument. An error from change ends the update and is returned as it is. The key must
// not change.
//
// Two requests if all rows are copies in the entity's partition. [ErrNotFound] if there
// is no entity.
func (s *Store[T]) Update(ctx context.Context, key keys.Key, change func(*T) error) (Item[T], error) {
	return s.update(ctx, outbox.Intent{Key: key}, change)
}

// UpdateItem is Update that uses was instead of its first read. was must be unchanged
// since it was read.
func (s *Store[T]) UpdateItem(ctx context.Context, was Item[T], change func(*T) error) (Item[T], error) {
	return s.update(ctx, outbox.Intent{Was: recordOf(was), Known: true}, change)
}

func (s *Store[T]) update(ctx context.Context, in outbox.Intent, change func(*T) error) (Item[T], error) {
	if change == nil {
		return Item[T]{}, fmt.Errorf("update: function: %w", ErrNil)
	}
	in.Next = func(was *txn.Record) (any, error) {
		if was == nil {
			return nil, fmt.Errorf("update: %w", ErrNotFound)
		}
		v := *was.Value.(*T)
		if err := change(&v); err != nil {
			return nil, err
		}
		return &v, nil
	}
	in.Op, in.Reread, in.Computed = "update", true, true
	return result[T](run(ctx, s.engine, &in))
}

// Delete deletes the entity at key, if it exists, and the rows derived from it. Two
// requests if all rows are copies in the entity's partition.
func (s *Store[T]) Delete(ctx context.Context, key keys.Key) error {
	return remove(ctx, s.engine, outbox.Intent{Key: key, Reread: true, Repeatable: true})
}

// DeleteItem is Delete for an entity that was read, which saves the read. was must be
// unchanged since it was read. [ErrConflict] if the entity was changed since,
// [ErrNotFound] if it was deleted.
func (s *Store[T]) DeleteItem(ctx context.Context, was Item[T]) error {
	return remove(ctx, s.engine, outbox.Intent{Was: recordOf(was), Known: true})
}

// put stores v, a pointer to the entity or nil, under its own key.
func put(ctx context.Context, engine *outbox.Store, v any, in outbox.Intent) (txn.Record, error) {
	if v == nil {
		return txn.Record{}, fmt.Errorf("%s: value: %w", in.Op, ErrNil)
	}
	if in.Was == nil {
		var err error
		if in.Key, err = engine.Table.KeyOf(v); err != nil {
			return txn.Record{}, fmt.Errorf("%s: %w", in.Op, err)
		}
	}
	in.Next = func(*txn.Record) (any, error) { return v, nil }
	return run(ctx, engine, &in)
}

func putItem(ctx context.Context, engine *outbox.Store, was *txn.Record, v any) (txn.Record, error) {
	return put(ctx, engine, v, outbox.Intent{Op: "put", Was: was, Known: true})
}

func remove(ctx context.Context, engine *outbox.Store, in outbox.Intent) error {
	in.Op = "delete"
	in.Next = func(*txn.Record) (any, error) { return nil, nil }
	_, err := run(ctx, engine, &in)
	return err
}

// run carries out an intent. If it has an item that the caller read, it first checks
// that the item can be the result of a read.
func run(ctx context.Context, engine *outbox.Store, in *outbox.Intent) (txn.Record, error) {
	if in.Was != nil {
		in.Key = in.Was.Key
		if err := readInFull(engine, in.Was); err != nil {
			return txn.Record{}, fmt.Errorf("%s: %w", in.Op, err)
		}
	}
	r, err := engine.Run(ctx, in)
	return r, withPlan(err)
}

// readInFull refuses an item that cannot be the result of a read.
func readInFull(engine *outbox.Store, was *txn.Record) error {
	if was.Origin != nil && was.Origin.Selected != nil {
		return ErrProjected
	}
	if err := (txn.Op{Kind: wire.Replace, ETag: was.ETag}).CheckETag(); err != nil {
		return err
	}
	return engine.CheckKey(was)
}
