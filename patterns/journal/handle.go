package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/azpatterns/azpatterns/internal/journal"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/query"
)

// Handle registers the handler of a feed with a worker of its queue. Any number of workers, in any number of processes, handle a feed:
// each partition is delivered by one of them at a time, which has a lease of it.
//
// do receives each change that was recorded since the feed was declared, at least once, and those of an entity in the order of their
// commits. If a worker dies, or loses its lease, the next one begins with the change after the last position that was stored, which is at
// most 2,000 changes earlier. A worker that does not know that it has lost its lease may deliver at the same time, so a handler that writes
// must ignore a change whose Version is not greater than that of the last one of its entity. Handlers of different partitions run concurrently.
//
// If do returns an error, or panics, the changes from that one on are delivered again, after [eventual.Options.Backoff]; other partitions
// and feeds go on. After [eventual.Options.Tries] the message is moved to the poison queue. The feed does not skip the change: the
// next message of the partition, or the replay of the poison message, begins with it again. do skips a change by returning nil.
//
// A change that T cannot be decoded from fails likewise. [eventual.Worker.Run] returns an error that matches [eventual.ErrBadKind] if do is nil, or f not
// one of the feeds of the journal. The requests of a message are listed in the documentation of the package.
func (c *Changes[T]) Handle(w *eventual.Worker, f *Feed, do func(ctx context.Context, change Change[T]) error) {
	var all func(context.Context, []Change[T], func(int)) error
	if do != nil {
		all = func(ctx context.Context, changes []Change[T], done func(int)) error {
			for i := range changes {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := do(ctx, changes[i]); err != nil {
					return err
				}
				done(i)
			}
			return nil
		}
	}
	c.handle(w, f, all)
}

// HandleView is Handle for a view of the entities outside tables: a search index, a cache, a file, or a table of another account. do receives the key of an
// entity that was changed, what is stored now, nil for nothing, and a version. Of several changes that are read together only the last one
// is delivered. do stores the version with the entity, also if that is absent, and ignores a call whose version is not greater. Then the view is what the table is
// as soon as all changes are delivered.
//
// The entity is that of the change, if it was recorded with [After] or [BeforeAndAfter], and is read otherwise, one request for each. One that
// [Options.Only] does not select counts as not stored.
func (c *Changes[T]) HandleView(w *eventual.Worker, f *Feed, do func(ctx context.Context, key keys.Key, entity *T, version Version) error) {
	if do == nil {
		c.Handle(w, f, nil)
		return
	}
	c.handle(w, f, func(ctx context.Context, changes []Change[T], done func(int)) error {
		for i := range changes {
			if i+1 < len(changes) && changes[i+1].Key == changes[i].Key { // changes of an entity follow each other
				continue
			}
			entity, err := c.now(ctx, &changes[i])
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err == nil {
				err = do(ctx, changes[i].Key, entity, changes[i].Version)
			}
			if err != nil {
				return err
			}
			done(i)
		}
		return nil
	})
}

// now returns the entity after a change, or a later version of it.
func (c *Changes[T]) now(ctx context.Context, change *Change[T]) (*T, error) {
	entity := change.After
	if change.Event == Deleted || change.Event == Expired {
		return nil, nil
	}
	if entity == nil || change.Changed != nil {
		item, err := c.store.Get(ctx, change.Key)
		if errors.Is(err, patterns.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		entity = &item.Value
	}
	if only := c.journal.opts.Only; only != nil && !only(entity) {
		return nil, nil
	}
	return entity, nil
}

// handle registers a handler that receives changes together. It calls done after each change that it has completed, if it can be continued after it.
func (c *Changes[T]) handle(w *eventual.Worker, f *Feed, do func(ctx context.Context, changes []Change[T], done func(int)) error) {
	kind := "journal.feed"
	if f != nil {
		kind = f.kind()
	}
	if do == nil || c.checkFeed(f, "p") != nil {
		eventual.Handle[message](w, kind, nil)
		return
	}
	eventual.Handle(w, kind, func(ctx context.Context, job eventual.Job[message]) error {
		d := delivery[T]{Changes: c, feed: f, message: job.Message, put: job.Enqueued, do: do}
		return d.run(ctx)
	})
}

// delivery is the delivery of the changes of a message.
type delivery[T any] struct {
	*Changes[T]
	feed *Feed
	message
	put time.Time
	do  func(ctx context.Context, changes []Change[T], done func(int)) error
}

func (d *delivery[T]) run(ctx context.Context) error {
	if err := d.checkFeed(d.feed, d.Partition); err != nil {
		return eventual.Cancel("", err)
	}
	if d.Epoch < 1 || d.Epoch > journal.MaxEpoch {
		return eventual.Cancel("", fmt.Errorf("%w: epoch", eventual.ErrBadMessage))
	}
	engine := d.store.Engine().Journal
	p, err := engine.Position(ctx, d.Partition, d.feed.name)
	if err != nil {
		return err
	}
	if d.Table != engine.Table() {
		return eventual.Cancel("message of a feed of another table", nil)
	}
	if d.isPast(p) {
		return nil
	}
	lease, err := d.feed.lease(d.store.Table().Client(), d.Partition)
	if err != nil {
		return err
	}
	switch held, err := lease.TryRun(ctx, func(ctx context.Context, _ int64) error { return d.deliver(ctx, engine) }); {
	case errors.Is(err, ErrSwept):
		return eventual.Cancel("", err)
	case err == nil && !held:
		return eventual.Snooze(min(max(time.Since(d.put)/2, time.Second), d.feed.opts.Lease/3)) // another worker delivers the partition
	default:
		return err
	}
}

// isPast reports whether everything up to the end of the message's epoch was delivered.
func (d *delivery[T]) isPast(p journal.Position) bool { return p.Epoch > d.Epoch && !p.Snapshot }

// deliver is called while this process has the lease. It reads the position again, because the last holder may have stored a later one.
func (d *delivery[T]) deliver(ctx context.Context, engine *journal.Journal) error {
	p, err := engine.Position(ctx, d.Partition, d.feed.name)
	if err != nil || d.isPast(p) {
		return err
	}
	if p.Epoch <= d.Epoch {
		if d.Epoch, err = engine.Close(ctx, d.Partition, d.Epoch); err != nil {
			return err
		}
	}
	if p.Epoch == 0 {
		if p, err = engine.First(ctx, d.Partition); err != nil {
			return err
		}
		if p.Epoch > 1 { // a sweep that has deleted earlier changes meanwhile has stored a position, and this fails
			if err = d.save(ctx, engine, &p); err != nil {
				return err
			}
		}
	}
	for !d.isPast(p) {
		next, err := d.page(ctx, engine, p)
		if next != p {
			err = errors.Join(err, d.save(ctx, engine, &next))
		}
		if p = next; err != nil {
			return err
		}
	}
	return nil
}

// save stores a position, also if the worker stops or loses its lease: what was delivered was.
func (d *delivery[T]) save(ctx context.Context, engine *journal.Journal, p *journal.Position) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.feed.opts.Lease)
	defer cancel()
	return engine.Save(ctx, d.Partition, d.feed.name, p)
}

// page delivers the next changes, and returns the position after those that were delivered.
func (d *delivery[T]) page(ctx context.Context, engine *journal.Journal, p journal.Position) (next journal.Position, err error) {
	if p.Snapshot {
		return d.snapshot(ctx, p)
	}
	read, next, err := engine.Read(ctx, d.Partition, p)
	if err != nil {
		return p, err
	}
	changes := make([]Change[T], len(read))
	for i := range read {
		var undecodable error
		if changes[i], undecodable = d.of(&read[i].Change); undecodable == nil {
			continue
		}
		if i == 0 {
			return p, undecodable
		}
		changes, next = changes[:i], read[i-1].After // the next page begins with it
		break
	}
	delivered := p
	if err := d.do(ctx, changes, func(i int) { delivered = read[i].After }); err != nil {
		return delivered, err
	}
	return next, nil
}

// snapshot delivers a page of the entities themselves. They contain all changes of the epochs before the position, and may
// contain later ones. Their version is greater than those of the former, and less than those of the latter.
func (d *delivery[T]) snapshot(ctx context.Context, p journal.Position) (next journal.Position, err error) {
	page, err := d.store.Page(ctx, query.PartitionKey.Eq(d.Partition), p.After, nil)
	if errors.Is(err, patterns.ErrBadCursor) && p.After != "" { // a program with other Primaries has begun the snapshot
		p.After = ""
		return p, nil
	}
	if err != nil {
		return p, err
	}
	version, only := Version(journal.Last(p.Epoch-1).String()), d.journal.opts.Only
	var changes []Change[T]
	for i := range page.Items {
		if item := &page.Items[i]; only == nil || only(&item.Value) {
			changes = append(changes, Change[T]{Key: item.Key, Version: version, Event: Present, At: item.Timestamp, After: &item.Value})
		}
	}
	if err := d.do(ctx, changes, func(int) {}); err != nil {
		return p, err
	}
	next = p
	if next.After = page.Cursor; next.After == "" {
		next.Snapshot = false
	}
	return next, nil
}
