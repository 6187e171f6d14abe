package patterns

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
)

// Insert stores a new entity and the rows derived from it, or fails with [ErrExists] or
// [*DuplicateError] and changes nothing.
//
// One request if all rows are copies in the entity's partition. One more to read each
// row that is a list or that is merged into. Remote rows are written afterwards; see
// [Store.Explain].
func (s *Store[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	key, err := s.table.Key(v)
	if err != nil {
		return Item[T]{}, fmt.Errorf("insert: %w", err)
	}
	return s.run(ctx, &outbox.Intent{Op: "insert", Key: key, Known: true, Next: value(v)})
}

// Put stores v whether or not the entity exists, and brings the rows derived from it up
// to date. Unknown properties of the row stay. Two requests if all rows are copies in the
// entity's partition.
//
// Put overwrites what other clients changed since the caller read the entity; use
// [Store.Update] for a change.
func (s *Store[T]) Put(ctx context.Context, v *T) (Item[T], error) {
	key, err := s.table.Key(v)
	if err != nil {
		return Item[T]{}, fmt.Errorf("put: %w", err)
	}
	return s.run(ctx, &outbox.Intent{Op: "put", Key: key, Reread: true, Repeatable: true, Next: value(v)})
}

// PutItem is Put for an entity that was read, which saves the read: one request if all
// rows are copies in the entity's partition. was must be unchanged since it was read.
// [ErrConflict] if the entity was changed since, [ErrNotFound] if it was deleted.
func (s *Store[T]) PutItem(ctx context.Context, was Item[T], v *T) (Item[T], error) {
	if v == nil {
		return Item[T]{}, fmt.Errorf("put: value: %w", ErrNil)
	}
	r, err := s.readInFull(was)
	if err != nil {
		return Item[T]{}, fmt.Errorf("put: %w", err)
	}
	return s.run(ctx, &outbox.Intent{Op: "put", Key: r.Key, Was: r, Known: true, Next: value(v)})
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
	return s.update(ctx, &outbox.Intent{Key: key}, change)
}

// UpdateItem is Update that uses was instead of its first read. was must be unchanged
// since it was read.
func (s *Store[T]) UpdateItem(ctx context.Context, was Item[T], change func(*T) error) (Item[T], error) {
	r, err := s.readInFull(was)
	if err != nil {
		return Item[T]{}, fmt.Errorf("update: %w", err)
	}
	return s.update(ctx, &outbox.Intent{Key: r.Key, Was: r, Known: true}, change)
}

func (s *Store[T]) update(ctx context.Context, in *outbox.Intent, change func(*T) error) (Item[T], error) {
	if change == nil {
		return Item[T]{}, fmt.Errorf("update: function: %w", ErrNil)
	}
	in.Op, in.Reread, in.Computed = "update", true, true
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
	return s.run(ctx, in)
}

// Delete deletes the entity at key, if it exists, and the rows derived from it. Two
// requests if all rows are copies in the entity's partition.
func (s *Store[T]) Delete(ctx context.Context, key keys.Key) error {
	_, err := s.run(ctx, &outbox.Intent{Op: "delete", Key: key, Reread: true, Repeatable: true, Next: value[T](nil)})
	return err
}

// DeleteItem is Delete for an entity that was read, which saves the read. was must be
// unchanged since it was read. [ErrConflict] if the entity was changed since,
// [ErrNotFound] if it was deleted.
func (s *Store[T]) DeleteItem(ctx context.Context, was Item[T]) error {
	r, err := s.readInFull(was)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	_, err = s.run(ctx, &outbox.Intent{Op: "delete", Key: r.Key, Was: r, Known: true, Next: value[T](nil)})
	return err
}

// run carries out an intent.
func (s *Store[T]) run(ctx context.Context, in *outbox.Intent) (Item[T], error) {
	r, err := s.engine.Run(ctx, in)
	if err != nil {
		return Item[T]{}, withPlan(err)
	}
	return itemOf[T](r), nil
}

// value is a new version that does not depend on the old one; nil deletes the entity.
func value[T any](v *T) func(*txn.Record) (any, error) {
	return func(*txn.Record) (any, error) {
		if v == nil {
			return nil, nil
		}
		return v, nil
	}
}

// readInFull returns was as the result of a read, or refuses an item that cannot be one.
func (s *Store[T]) readInFull(was Item[T]) (*txn.Record, error) {
	if was.Projected() {
		return nil, ErrProjected
	}
	if err := ReplaceOp(was).op.CheckETag(); err != nil {
		return nil, err
	}
	r := recordOf(was)
	return r, s.engine.CheckKey(r)
}
