package journal

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/journal"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Version is the place of a change in the order of those of its entity. As a text it grows with each change, also if the entity is
// deleted and created again, whatever the clocks show. Versions of different entities cannot be compared.
type Version string

// Change is a change of an entity.
type Change[T any] struct {
	Key     keys.Key // of the entity
	Version Version
	Event   Event
	At      time.Time // when the service stored the change, by its clock

	// The entity before and after the change, as far as [Options.Content] had it recorded; nil for none. With [Changed] the other
	// properties of After are zero.
	Before, After *T

	// Changed are the names of the stored properties that differ before and after the change, sorted; only with Content [Changed].
	Changed []string
}

// Page is a page of changes.
type Page[T any] struct {
	Changes []Change[T]
	Cursor  string // of the next page, "" for none
}

// History returns the recorded changes of the entity at key, the newest first, whether the entity exists or not. Limit and PageSize of
// opts limit the changes; Select is refused with [patterns.ErrBadOption], and the others have no effect. A change that is made during the
// call may be missing. One request for each 1,000 changes, or 4 MiB of them.
func (c *Changes[T]) History(ctx context.Context, key keys.Key, opts *patterns.QueryOptions) iter.Seq2[Change[T], error] {
	limit := 0
	if opts != nil {
		limit = opts.Limit
	}
	return pages.Items(c.Pages(ctx, key, "", opts), limit, func(p Page[T]) []Change[T] { return p.Changes })
}

// Page returns a page of the changes that [Changes.History] returns, from a cursor, "" for the newest. A cursor is valid for the
// same key. One request.
func (c *Changes[T]) Page(ctx context.Context, key keys.Key, cursor string, opts *patterns.QueryOptions) (Page[T], error) {
	page, err := c.page(ctx, key, query.Filter{}, cursor, opts)
	if err != nil {
		return Page[T]{}, fmt.Errorf("page: %w", azerr.Seal(err))
	}
	return page, nil
}

// Pages returns the pages of [Changes.Page] from a cursor on. After an error it ends.
func (c *Changes[T]) Pages(ctx context.Context, key keys.Key, cursor string, opts *patterns.QueryOptions) iter.Seq2[Page[T], error] {
	return pages.Each(cursor, func(cursor string) (Page[T], error) { return c.Page(ctx, key, cursor, opts) }, func(p *Page[T]) *string { return &p.Cursor })
}

func (c *Changes[T]) page(ctx context.Context, key keys.Key, f query.Filter, cursor string, opts *patterns.QueryOptions) (p Page[T], err error) {
	if err := c.check(key); err != nil {
		return p, err
	}
	var o patterns.QueryOptions
	if opts != nil {
		if opts.Select != nil {
			return p, azerr.Errorf("%w: QueryOptions.Select: of a journal whole rows are read", patterns.ErrBadOption)
		}
		o.Limit, o.PageSize = opts.Limit, opts.PageSize
	}
	engine := c.store.Engine().Journal
	changes, next, err := engine.Changes(ctx, key, f, cursor, &o)
	if err != nil {
		return p, err
	}
	p.Cursor = next
	for i := range changes {
		change, err := c.of(&changes[i])
		if err != nil {
			return Page[T]{}, err
		}
		p.Changes = append(p.Changes, change)
	}
	return p, nil
}

// of returns a change of the engine.
func (c *Changes[T]) of(r *journal.Change) (Change[T], error) {
	change := Change[T]{Key: r.Entity, Version: Version(r.Version.String()), Event: r.Event, At: r.At, Changed: r.Names}
	for _, version := range []struct {
		row []byte
		to  **T
	}{{r.Before, &change.Before}, {r.After, &change.After}} {
		entity, err := c.store.Engine().Journal.Decode(version.row)
		if err != nil {
			return change, err
		}
		*version.to, _ = entity.(*T)
	}
	return change, nil
}

// AsOf returns the last change of the entity at key that the service stored at a time or earlier, by its clock. If [Deleted] or [Expired], the
// entity did not exist then; otherwise After is the entity at that time, if Content is [After] or [BeforeAndAfter].
// [patterns.ErrNotFound] if no change until then is recorded: the entity did not exist, or the journal began later, or the change was swept.
// One request, or more if the history is long.
func (c *Changes[T]) AsOf(ctx context.Context, key keys.Key, at time.Time) (Change[T], error) {
	change, err := c.asOf(ctx, key, at)
	if err != nil {
		err = fmt.Errorf("as of: %w", azerr.Seal(err))
	}
	return change, err
}

func (c *Changes[T]) asOf(ctx context.Context, key keys.Key, at time.Time) (none Change[T], err error) {
	if err := c.check(key); err != nil {
		return none, err
	}
	if at.Year() < 1601 { // which the service cannot compare
		return none, patterns.ErrNotFound
	}
	change, err := c.store.Engine().Journal.Newest(ctx, key, query.Timestamp.Le(at))
	if err == nil && change == nil {
		err = patterns.ErrNotFound
	}
	if err != nil {
		return none, err
	}
	return c.of(change)
}
