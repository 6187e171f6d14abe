package patterns

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// Insert stores a new entity and the rows that follow from it, or fails with
// [ErrExists] or [*DuplicateError] and changes nothing.
//
// One request where all rows are copies in the entity's partition. One more to read
// each row of a list, and each row merged into. Rows elsewhere follow; see
// [Store.Explain].
func (s *Store[T]) Insert(ctx context.Context, v *T) (Item[T], error) {
	key, err := s.table.Key(v)
	if err != nil {
		return Item[T]{}, fmt.Errorf("insert: %w", err)
	}
	return s.run(ctx, &intent[T]{what: "insert", key: key, known: true, insert: true, next: value(v)})
}

// Put stores v whether the entity exists or not, and makes the rows that follow
// from it right. Properties of the row that T has no field for stay. Two requests
// where all rows are copies in the entity's partition.
//
// Put replaces what others changed since the caller read the entity; use
// [Store.Update] for a change.
func (s *Store[T]) Put(ctx context.Context, v *T) (Item[T], error) {
	key, err := s.table.Key(v)
	if err != nil {
		return Item[T]{}, fmt.Errorf("put: %w", err)
	}
	return s.run(ctx, &intent[T]{what: "put", key: key, again: true, blind: true, next: value(v)})
}

// PutItem is Put for an entity already read, which saves the read: one request
// where all rows are copies in the entity's partition. was must be just as it was
// read. [ErrConflict] where the entity was changed since, [ErrNotFound] where it is
// gone.
func (s *Store[T]) PutItem(ctx context.Context, was Item[T], v *T) (Item[T], error) {
	if err := s.readInFull(&was); err != nil {
		return Item[T]{}, fmt.Errorf("put: %w", err)
	}
	return s.run(ctx, &intent[T]{what: "put", key: was.Key, was: &was, known: true, next: value(v)})
}

// Update reads the entity at key, lets change alter it, and stores it with the rows
// that follow from it; when someone else was faster it starts over, so change may
// run several times and must do nothing but alter its argument. An error from change
// ends the update and is returned as it is. The key must not change.
//
// Two requests where all rows are copies in the entity's partition. [ErrNotFound]
// where there is no entity.
func (s *Store[T]) Update(ctx context.Context, key keys.Key, change func(*T) error) (Item[T], error) {
	return s.update(ctx, &intent[T]{key: key}, change)
}

// UpdateItem is Update that takes its first read from was, which must be just as it
// was read.
func (s *Store[T]) UpdateItem(ctx context.Context, was Item[T], change func(*T) error) (Item[T], error) {
	if err := s.readInFull(&was); err != nil {
		return Item[T]{}, fmt.Errorf("update: %w", err)
	}
	return s.update(ctx, &intent[T]{key: was.Key, was: &was, known: true}, change)
}

func (s *Store[T]) update(ctx context.Context, in *intent[T], change func(*T) error) (Item[T], error) {
	if change == nil {
		return Item[T]{}, fmt.Errorf("update: function: %w", ErrNil)
	}
	in.what, in.again, in.computed = "update", true, true
	in.next = func(was *Item[T]) (*T, error) {
		if was == nil {
			return nil, fmt.Errorf("update: %w", ErrNotFound)
		}
		v := was.Value
		if err := change(&v); err != nil {
			return nil, err
		}
		return &v, nil
	}
	return s.run(ctx, in)
}

// Delete deletes the entity at key, if it exists, and the rows that follow from it.
// Two requests where all rows are copies in the entity's partition.
func (s *Store[T]) Delete(ctx context.Context, key keys.Key) error {
	_, err := s.run(ctx, &intent[T]{what: "delete", key: key, again: true, blind: true, next: value[T](nil)})
	return err
}

// DeleteItem is Delete for an entity already read, which saves the read. was must be
// just as it was read. [ErrConflict] where the entity was changed since,
// [ErrNotFound] where it is gone.
func (s *Store[T]) DeleteItem(ctx context.Context, was Item[T]) error {
	if err := s.readInFull(&was); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	_, err := s.run(ctx, &intent[T]{what: "delete", key: was.Key, was: &was, known: true, next: value[T](nil)})
	return err
}

// value is an intent that does not depend on what stands there.
func value[T any](v *T) func(*Item[T]) (*T, error) {
	return func(*Item[T]) (*T, error) { return v, nil }
}

// readInFull refuses an item that cannot stand for a read of the row.
func (s *Store[T]) readInFull(was *Item[T]) error {
	if was.Projected() {
		return ErrProjected
	}
	if err := (&wire.Write{Kind: wire.Replace, ETag: string(was.ETag)}).Check(); err != nil {
		return err
	}
	if was.ETag == "*" {
		return azerr.ErrBadETag
	}
	return s.holdsKey(was)
}

// intent is what an operation is to do to one primary.
type intent[T any] struct {
	what string // "insert", "put", …
	key  keys.Key

	was    *Item[T] // what stands there, if known
	known  bool     // was is given, nil for nothing; else it is read first
	insert bool     // nothing may stand there
	again  bool     // after a lost race the primary is read again
	blind  bool     // doing it twice is as good as once
	mend   bool     // rows are looked after that need no change

	// next gives the new version, nil for none.
	next     func(was *Item[T]) (*T, error)
	computed bool // next depends on was: equal content proves nothing
}

// run carries out an intent, over all the tries that it takes.
func (s *Store[T]) run(ctx context.Context, in *intent[T]) (Item[T], error) {
	op := &operation[T]{store: s, intent: in, full: in.mend}
	var doubt error // of a try before, which may have been carried out
	for try := 1; ; try++ {
		item, err := op.try(ctx)
		if err == nil {
			return item, nil
		}
		var race *lostRace
		if errors.As(err, &race) {
			if errors.Is(race.err, ErrOutcomeUnknown) {
				doubt = race.err
			}
			if in.computed { // it may have altered what was refers to
				in.was, in.known = nil, false
			}
			err = fmt.Errorf("%s: %w: %v", in.what, ErrConflict, race.err)
			if try < s.opts.Tries && ctx.Err() == nil {
				if perr := pause(ctx, try); perr == nil {
					continue
				}
			}
		}
		op.giveUp(ctx)
		if doubt != nil {
			err = fmt.Errorf("%s: %w; the last try: %v", in.what, doubt, err)
		}
		return Item[T]{}, err
	}
}

// lostRace says that an operation may be started over: it was not carried out, or it
// may have been and twice is as good as once.
type lostRace struct{ err error }

func (r *lostRace) Error() string { return r.err.Error() }
func (r *lostRace) Unwrap() error { return r.err }
