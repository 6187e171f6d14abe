package patterns

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
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
// [Store.Explain]. If a row exists at the key of the entity, one more request to read it: if
// it has only what views have merged into it, Insert stores the entity there and keeps what
// was merged.
func (s *Store[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	return s.do(ctx, InsertEntity(v))
}

// Put stores v: it inserts the entity if there is none, and otherwise replaces it, whatever
// its version. It brings the rows derived from it up to date. Unknown properties of the row
// stay. Two requests if all rows are copies in the entity's partition, and two more for each
// conflict with another writer.
//
// Put overwrites what other clients changed since the caller read the entity. If a response
// was lost, Put reads the entity and may store v again, also over a change that another
// client made in between. Use [Store.Update] or [Store.PutItem], which write on the condition
// that the entity is still the version that was read.
func (s *Store[T]) Put(ctx context.Context, v *T) (Item[T], error) {
	return s.do(ctx, PutEntity(v))
}

// PutItem is Put for an entity that was read, which saves the read: one request if all
// rows are copies in the entity's partition. It returns [ErrConflict] if the entity was
// changed since was was read, and [ErrNotFound] if it was deleted.
//
// was must be as it was read, or as a write of the Store returned it, with all that its Value refers
// to. PutItem derives the stored rows from it, and cannot detect a change: rows of the stored version
// would then remain, and [ErrConflict] would not occur. So v must be another value, and must not
// have been changed through a slice, a map or a pointer that it shares with was:
//
//	v := was.Value
//	v.Tags = append(slices.Clone(v.Tags), "new")
//	was, err = store.PutItem(ctx, was, &v)
//
// [Store.UpdateItem], whose function may change its argument in any way, needs no such care.
//
// The Item that is returned shares nothing with v that a copy of T can separate, see UpdateItem.
func (s *Store[T]) PutItem(ctx context.Context, was Item[T], v *T) (Item[T], error) {
	return s.do(ctx, PutEntity(v).Was(was))
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
	return s.do(ctx, UpdateEntity(key, change))
}

// UpdateItem is Update that uses was instead of its first read. was must be as it was read, or as a
// write of the Store returned it, with all that its Value refers to, as for [Store.PutItem].
//
// change gets a copy of was.Value, with copies of the slices, maps, pointers and interfaces in it,
// at every depth. So it may change them in place, and was may be used again after an error. A copy
// cannot separate the memory of unexported fields, such as those of a big.Int, of fields with the tag
// "-", and of functions and channels. If T has such fields, or interfaces, UpdateItem uses was
// once, and reads the entity, with one more request, if it has to call change again. If change
// modifies such memory in place, read the entity again after an error, unless the same [StoreOp] is
// carried out again.
func (s *Store[T]) UpdateItem(ctx context.Context, was Item[T], change func(*T) error) (Item[T], error) {
	return s.do(ctx, UpdateEntity(was.Key, change).Was(was))
}

// Delete deletes the entity at key, whatever its version, and the rows derived from it. It
// returns nil if there is no entity, unlike [StoreBatch.Delete]. Two requests if all rows are copies in the entity's
// partition, one if there is no entity, and two more for each conflict with another writer.
//
// If a response was lost, Delete reads the entity again and may delete one that another
// client inserted in between. Use [Store.DeleteItem], which deletes only the version that was
// read.
func (s *Store[T]) Delete(ctx context.Context, key keys.Key) error {
	_, err := s.do(ctx, DeleteEntity[T](key))
	return err
}

// DeleteItem deletes the entity that was read as was, which saves the read. It returns
// [ErrConflict] if the entity was changed since, and [ErrNotFound] if it was deleted. was must be
// as it was read, or as a write of the Store returned it, with all that its Value refers to: the rows
// to delete follow from it, and others would remain.
func (s *Store[T]) DeleteItem(ctx context.Context, was Item[T]) error {
	_, err := s.do(ctx, DeleteEntity[T](was.Key).Was(was))
	return err
}

// creator is a queue or a target that can create what it is stored in.
type creator interface {
	Create(ctx context.Context) error
}

// Create creates everything that the Store needs: its table, the tables and blob containers
// in which its views have rows, and the outbox queue if that has a method
//
//	Create(ctx context.Context) error
//
// as that of package eventual has; otherwise the queue must exist. What exists already is not
// an error and stays as it is, so any number of processes may call Create, at any time. It
// makes one request for each of these; views with Targets of the same ID share one.
//
// Create also records, in each other table that contains rows of views, that these views are those
// of the entities in this Store's table: see [View]. The first time in a process that takes one request
// for each such table, one for each view that is new there, and one to find out the name of the
// Store's table. It fails with [ErrBadView] if the views are those of another table's entities.
//
// If something cannot be created, Create goes on with the rest. The error names what failed:
// the table of the primaries, the outbox, or the view.
func (s *Store[T]) Create(ctx context.Context) error {
	var failed []error
	create := func(what string, c creator) {
		if err := c.Create(ctx); err != nil {
			failed = append(failed, fmt.Errorf("create: %s: %w", what, azerr.Seal(err)))
		}
	}
	create("table of the primaries", s.table)
	created := map[string]bool{}
	for _, v := range s.engine.Views.Views {
		if c, ok := v.Shape.Target.(creator); ok && !created[v.TargetID()] {
			created[v.TargetID()] = true
			create("target of view "+v.Name, c)
		}
	}
	if c, ok := s.queue.(creator); ok {
		create("outbox", c)
	}
	if len(failed) == 0 {
		if _, err := s.engine.Own(ctx, true); err != nil {
			failed = append(failed, fmt.Errorf("create: %w", azerr.Seal(err)))
		}
	}
	return errors.Join(failed...)
}
