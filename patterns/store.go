package patterns

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/records"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// Store is a [Table] that keeps its views up to date: every change of a primary entity
// changes the rows derived from it. It is safe for concurrent use; it starts no goroutine
// that outlives a call, and needs no closing, except for a [Finisher] if it is used.
//
// Rows in the primary's own partition change in one transaction with it. Rows elsewhere
// are eventually consistent: normally they are updated immediately after the
// transaction, after a crash by a worker (see [Store.Handle]).
// [Store.Batch] changes several entities of a partition in one transaction.
//
// All changes of primaries must go through a Store with the same views, except for views
// that are being added or removed as package reindex describes. Row keys that begin with "~azp",
// and properties that begin with "azp_", are reserved for the Store.
type Store[T any] struct {
	table  *Table[T]
	views  []View[T]
	engine *outbox.Store
	rows   *records.Reader // of primaries
	queue  OutboxQueue
}

// StoreOptions are the options of [NewStore]. nil and the zero value select the
// defaults.
type StoreOptions[T any] struct {
	// Views of the table. Their names must differ.
	//
	// Each entity lists the views that may have rows of it, with a fingerprint of their
	// definitions: those of the program which wrote it, without building and retired views.
	// A Store refuses to change an entity that lists a view which the Store does not have, or
	// has with another definition, with a [*ViewMismatchError]: otherwise rows of that view
	// would become obsolete. It leaves outbox messages that concern such a view to the other
	// program. A view has no rows of entities that do not list it, until they are changed or
	// repaired by a program that adds the view.
	//
	// Package reindex describes the steps in which a view is added, changed or removed while
	// programs of two versions run, so that neither ever meets such an entity. A changed
	// definition needs a new name, because the rows of the old definition are still stored;
	// see [Shape.Version].
	Views []View[T]

	// Primaries is matched by every primary. Set it if the table also has entities of other
	// types: [Store.Query], [Store.Page] and [Store.Scan] send it to the service together with
	// their own filter, so such rows are not even read. It may name keys, Timestamp and
	// properties of T. The zero Filter matches every row. Writes do not check it.
	Primaries query.Filter

	// Building names views in Views that a running program may not have yet. A change of an
	// entity keeps the rows of such a view up to date if the entity lists the view. It does
	// not add the view to an entity. So a program with a building view can run at the same
	// time as one without the view, and as one for which the view is no longer building.
	// See package reindex for the steps in which a view is added and removed.
	//
	// So name a view here while a program that was written by hand changes entities and knows
	// nothing of the view. If such a program stores the rows of the view itself, do not: a building
	// view does not adopt them, and they become obsolete when the Store changes their entity.
	Building []string

	// Retired names views that are being removed, or that the program had in the past. If
	// such a view is in Views, a change of an entity removes the entity's rows of the view.
	// If it is not, these rows are left alone. In both cases the entity does not list the
	// view afterwards.
	Retired []string

	// Outbox is the queue of outbox messages. It is needed if a view has rows outside the
	// primary's partition, other than lookup rows. A worker must process its messages: see HandleOutbox of package
	// eventual.
	Outbox OutboxQueue

	// Grace is how long an operation may take before a worker completes it. Zero means
	// one minute. An operation that takes longer is not harmed; it may have to start over.
	Grace time.Duration

	// Expiry is how long the record of an operation that a worker completed is kept. Half
	// of it is the longest time that an operation may take once it has put its message: if
	// its process was paused for longer, it starts over. The other half is the longest
	// time that a request may be on its way to the service. Zero means one hour.
	Expiry time.Duration

	// Follow is when the rows outside the partition follow the transaction. The zero value
	// means in the same call.
	Follow Follow

	// Finisher, if set, finishes operations after their calls have returned. nil means that the calls do.
	Finisher *Finisher

	// GuardInserts makes every insert use the outbox, also those of entities without rows
	// outside the partition, which takes 4 requests, one after the other, instead of 1. It needs Outbox. If the
	// reply to such an insert is lost, its outbox row shows whether it was applied, and
	// prevents that a retry or a late request inserts the entity again after it was deleted.
	// Inserts of entities with rows outside the partition are always safe in this way.
	GuardInserts bool

	// Parallel is how many requests of one operation may be in flight. Zero means 8. A
	// transaction over several entities writes the remote rows of as many entities
	// concurrently.
	Parallel int

	// Tries is how often an operation starts over after a conflict before it fails with
	// [ErrConflict]. Zero means 16.
	Tries int

	// OnPending, if set, is called after an operation was applied if its remote rows could
	// not all be written: a worker will write them. The operation itself has succeeded. With a [Finisher] it may be called later, on a
	// goroutine of the Finisher, with a context that has none of the values of the call's.
	//
	// A [*DuplicateError] in err names a key at which a row of another owner is stored.
	// Either the view's keys are wrong, or the row was written without the Store. The
	// worker cannot repair it while the row exists, and its message ends in the poison
	// queue. The outbox row stays, and [Store.Sweep] tries again.
	OnPending func(ctx context.Context, primary keys.Key, err error)
}

// Follow is when the rows outside an entity's partition follow its transaction.
type Follow int

const (
	// Immediately means that a change returns after these rows were written, and, without a [Finisher], the outbox
	// row and the message deleted.
	Immediately Follow = iota

	// Later means that a change returns after its transaction. A worker does the rest: the
	// message of the operation is visible immediately, so that takes as long as the worker
	// needs to receive it. Until then readers of these rows find what was stored before, and
	// no row of a new entity. Unique rows are reserved before the transaction all the same.
	//
	// Each change takes fewer round trips and more requests: for an insert with one unique row
	// elsewhere the call makes 3 instead of 6, and the worker 7, those of the queue, of its
	// late check after Expiry, and of its first message ([Store.Handle]) apart.
	Later
)

const (
	defaultGrace  = time.Minute
	defaultExpiry = time.Hour
)

// NewStore returns a Store on table. It makes no request. It refuses two views of the
// same name, a building view that is retired or not in Views, a view with rows outside the
// partition if there is no outbox, and the first view whose declaration is invalid; the error
// is a [*ViewError] that names the view.
func NewStore[T any](table *Table[T], opts *StoreOptions[T]) (*Store[T], error) {
	if table == nil {
		return nil, fmt.Errorf("new store: table: %w", ErrNil)
	}
	if table.keyless {
		return nil, fmt.Errorf("new store: %w: the table is keyless; its rows need keys that follow from their values", ErrBadKey)
	}
	var o StoreOptions[T]
	if opts != nil {
		o = *opts
	}
	views := make([]*view.View, len(o.Views))
	for i, v := range o.Views {
		if v == nil {
			return nil, fmt.Errorf("new store: view %d: %w", i, ErrNil)
		}
		var err error
		if views[i], err = view.Of(v); err != nil {
			return nil, fmt.Errorf("new store: view %d: %w", i, err)
		}
	}
	if o.Follow < Immediately || o.Follow > Later {
		return nil, azerr.Errorf("new store: %w: StoreOptions.Follow: not Immediately or Later", azerr.ErrBadOption)
	}
	if o.GuardInserts && o.Outbox == nil {
		return nil, fmt.Errorf("new store: GuardInserts without Outbox: %w", ErrNil)
	}
	if o.Finisher != nil && o.Finisher.engine == nil {
		return nil, azerr.Errorf("new store: %w: StoreOptions.Finisher: not made by NewFinisher", azerr.ErrBadOption)
	}
	engine, err := newEngine(outbox.Config{
		Table: table.txn, Grace: o.Grace, Expiry: o.Expiry, Parallel: o.Parallel, Tries: o.Tries, OnPending: o.OnPending, GuardInserts: o.GuardInserts,
		Later: o.Follow == Later, Primaries: o.Primaries, Queue: o.Outbox, Finisher: engineOf(o.Finisher),
	}, views, copyEntity[T], o.Building, o.Retired)
	if err != nil {
		return nil, err
	}
	if table.keyFunc {
		engine.Views.KeyOf = table.txn.KeyOf
	}
	rows, err := table.rows.Primaries(engine.Views, o.Primaries, func(entity any) bool { return engine.Expired(entity, 0) })
	if err != nil {
		return nil, fmt.Errorf("new store: Primaries: %w", err)
	}
	return &Store[T]{table: table, views: slices.Clone(o.Views), engine: engine, rows: rows, queue: o.Outbox}, nil
}

// newEngine fills in the defaults of c.
func newEngine(c outbox.Config, views []*view.View, copyEntity view.CopyEntity, building, retired []string) (*outbox.Store, error) {
	err := cmp.Or(
		azerr.Default(&c.Grace, defaultGrace, "Grace"), azerr.Default(&c.Expiry, defaultExpiry, "Expiry"),
		azerr.Default(&c.Parallel, defaultParallel, "Parallel"), azerr.Default(&c.Tries, defaultTries, "Tries"))
	if err != nil {
		return nil, fmt.Errorf("new store: %w", err)
	}
	if c.Views, err = view.NewSet(c.Table.Codec, views, c.Queue != nil, copyEntity, slices.Clone(building), slices.Clone(retired)); err != nil {
		return nil, fmt.Errorf("new store: %w", err)
	}
	engine, err := outbox.New(c)
	if err != nil {
		return nil, fmt.Errorf("new store: %w", err)
	}
	return engine, nil
}

// Engine is for the other packages of this module: programs cannot use what it returns.
func (s *Store[T]) Engine() *outbox.Store {
	if s == nil {
		return nil
	}
	return s.engine
}

// copyEntity is a [view.CopyEntity].
func copyEntity[T any](dst, src any) any {
	if dst == nil {
		dst = new(T)
	}
	*dst.(*T) = *src.(*T)
	return dst
}

// Within returns s restricted to the entities of one partition: a change or a repair of another
// entity, also by a StoreBatch or a Bulk, fails with [ErrMixedPartitions] before any request. So
// does a write of [Store.Table]. Within of the result adds a restriction. Rows of views follow
// their entities also in other partitions. Reads, Handle, Sweep, Reencrypt and the states of views are
// those of s, and it shares everything else with s.
func (s *Store[T]) Within(partition string) *Store[T] {
	within, engine := *s, *s.engine
	within.table = s.table.Within(partition)
	engine.Table = within.table.txn
	within.engine = &engine
	return &within
}

// Table returns the table that NewStore took. Writing to it directly does not update the
// views.
func (s *Store[T]) Table() *Table[T] { return s.table }

// Views returns the views that NewStore took.
func (s *Store[T]) Views() []View[T] { return slices.Clone(s.views) }

// Get is [Table.Get] of a primary. [ErrNotFound] if there is none, also if the row has only
// what views have merged into it. A row of a view is refused with [ErrBadKey], one from which
// [TableOptions.Key] makes another key with [ErrKeyChanged].
func (s *Store[T]) Get(ctx context.Context, key keys.Key) (Item[T], error) {
	ctx, span := s.engine.Begin(ctx, "get")
	defer span.EndRead()
	r, err := s.engine.Get(ctx, key)
	span.Found(err)
	return result[T](r, err)
}

// Repair rewrites the rows derived from the entity at key, including rows that look
// correct: after a view was added to a table that has rows, or after the table was
// written without the Store. It rewrites the entity itself as well, unchanged, so its
// ETag changes. [ErrNotFound] if there is no entity. Package reindex does both for whole
// tables, with fewer requests.
//
// If rows are named, Repair checks only those, and changes only what is wrong: rows that
// the entity implies are written, and rows that it no longer implies, or that belong to
// it although it does not exist, are removed. A row that belongs to another primary is
// left alone, and is a [*DuplicateError] if both imply it. The entity and each local row
// take one read. If a row is wrong, one transaction also changes the ETag of the entity.
// Remote rows go through the outbox like those of any operation. Rows that a view merges
// properties into within the partition follow from all primaries, so naming one is
// refused with [ErrBadView].
//
// Repair finds neither rows that no entity implies nor a counter that is wrong although
// each entity was counted once. To repair a remote counter, delete it, row or property,
// before any entity that it counts is repaired, which adds it up again. A counter in the
// entities' partition must be corrected by hand while no client writes.
func (s *Store[T]) Repair(ctx context.Context, key keys.Key, rows ...RowRef) error {
	ctx, span := s.engine.Begin(ctx, "repair")
	defer span.End()
	err := s.engine.Repair(ctx, key, rows...)
	span.Fail(err)
	return err
}
