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

// Sweep deletes the changes that are older than OlderThan, by default [Options.Keep], by the clock of the service. It keeps the newest of
// these of each entity, so that [Changes.AsOf] finds the state at any later time; that of a deletion goes in the next sweep, when nothing
// older is left. Any number of sweeps may run concurrently with each other and with programs that write.
//
// With feeds it also deletes the changes that were recorded for them, see [Options.FeedKeep], and puts the messages of partitions that a feed has not
// read completely. Without an OlderThan and [Options.Keep] it does only that.
//
// The report's Found are the changes that are so old, Done those that were deleted, Skipped those that were kept; with feeds Found and Done also
// count the epochs that were deleted, and the partitions whose messages were put. A step is a page of up to 1,000 rows, or 100 with a Deadline.
//
// One request for each 1,000 changes that are found, and, for each partition on a page with changes to delete, one to three, and one
// for up to 100 deletes. The service reads all rows of the table, or of Partitions, for it.
func (c *Changes[T]) Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	if err := c.check(keys.Key{Partition: "p", Row: "r"}); err != nil {
		return patterns.SweepReport{}, fmt.Errorf("sweep: %w", err)
	}
	engine := c.store.Engine()
	ctx, span := engine.Begin(ctx, "journal")
	defer span.End()
	r, err := engine.Journal.Sweep(ctx, c.journal.name, c.journal.opts.Keep, c.journal.opts.FeedKeep, opts)
	span.Fail(err)
	return r, err
}
