package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/journal"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Restore stores the entity at key as it was after the change of a version, or, if that deleted it, before. It is an ordinary change of the
// Store, with all its views and a change of its own: an insert if the entity does not exist, and otherwise [patterns.Store.PutItem]. If
// another program changes the entity meanwhile, it fails with [patterns.ErrConflict] or [patterns.ErrExists], and changes nothing.
// Properties that T has no field for are not restored: they stay as they are, or are missing if the entity does not exist.
//
// [patterns.ErrNotFound] if the change is not recorded; [patterns.ErrBadOption] if it was recorded without the whole entity: with
// [KeyOnly], with [Changed] unless it deleted the entity, or if it deleted one that was too large.
//
// Two requests, and those of the change, which does not read the entity again.
func (c *Changes[T]) Restore(ctx context.Context, key keys.Key, version Version) (patterns.Item[T], error) {
	item, err := c.restore(ctx, key, version)
	if err != nil {
		err = fmt.Errorf("restore: %w", azerr.Seal(err))
	}
	return item, err
}

func (c *Changes[T]) restore(ctx context.Context, key keys.Key, version Version) (item patterns.Item[T], err error) {
	if err := c.check(key); err != nil {
		return item, err
	}
	v, ok := journal.ParseVersion(string(version))
	if !ok {
		return item, azerr.Errorf("%w: not a version of a change", patterns.ErrBadOption)
	}
	row, err := c.store.Engine().Journal.Change(ctx, key, v)
	if err != nil {
		return item, err
	}
	change, err := c.of(&row)
	if err != nil {
		return item, err
	}
	entity := change.After
	if change.Event == Deleted || change.Event == Expired {
		entity = change.Before
	}
	if entity == nil || change.Changed != nil && change.After != nil {
		return item, azerr.Errorf("%w: Content: the change was recorded without the whole entity", patterns.ErrBadOption)
	}
	now, err := c.store.Get(ctx, key)
	switch {
	case errors.Is(err, patterns.ErrNotFound):
		return c.store.Insert(ctx, entity)
	case err != nil:
		return item, err
	}
	return c.store.PutItem(ctx, now, entity)
}
