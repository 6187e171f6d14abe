package shards

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Store is a [patterns.Store] in several accounts, whose views have rows in the partition of the
// entity, which move with it, and lookup rows in a table that does not move. Its methods are those of patterns.Store, with the same
// requests to the account that owns the partition. Package reindex and the states of views, which
// concern a whole table, cannot be used with it. It is safe for concurrent use.
type Store[T any] struct {
	sharded[T, *patterns.Store[T]]
	lookups *patterns.Store[T]
}

// NewStore returns a Store on table. opts are those of each [patterns.Store]. It makes no
// request. An Outbox is refused with [ErrRemoteRows], and so are lookup rows in the table of the entities, and package expiry. Without an Outbox a view with rows outside the
// partition is an [patterns.ErrBadView], here or in the first operation that needs it: such rows
// would be in partitions of other accounts, and would not move with the entity.
func NewStore[T any](table *Table[T], opts *patterns.StoreOptions[T]) (*Store[T], error) {
	if table == nil {
		return nil, fmt.Errorf("new store: table: %w", patterns.ErrNil)
	}
	if opts != nil && opts.Outbox != nil {
		return nil, fmt.Errorf("new store: %w", ErrRemoteRows)
	}
	s := &Store[T]{}
	s.shards, s.at.shards, s.any = table.shards, table.shards, table.any
	s.at.open = func(c *aztables.Client) (*patterns.Store[T], error) {
		t, err := table.at.open(c)
		if err != nil {
			return nil, err
		}
		store, err := patterns.NewStore(t, opts)
		if err != nil {
			return nil, err
		}
		for _, v := range store.Engine().Views.Views {
			if v.Shape.Kind == patterns.Lookups && (!v.Foreign() || v.Expiring != nil) { // the documentation of the package has the reasons
				return nil, fmt.Errorf("new store: view %q: %w", v.Name, ErrRemoteRows)
			}
		}
		return store, nil
	}
	s.begin = func(at *patterns.Store[T]) func(context.Context) { return at.Engine().Retain() }
	first, err := s.at.of(table.shards.initial[0].Name)
	if err != nil {
		return nil, err
	}
	s.lookups = first.Within("").Within("none") // writes nothing
	s.lookups.Engine().Where = func(ctx context.Context, partition string, f func(*outbox.Store) error) error {
		return s.ReadWithin(ctx, partition, func(at *patterns.Store[T]) error { return f(at.Engine()) })
	}
	return s, nil
}

// Lookups returns the Store for the readers of lookup rows, which the method On of a LookupIndex of package secondaryindex returns, and for its method Sweep, which
// removes superfluous rows: both read entities in the accounts that own their partitions, as Get does, and with its requests. The
// other methods of this Store read the first account only, or fail with [patterns.ErrMixedPartitions].
func (s *Store[T]) Lookups() *patterns.Store[T] { return s.lookups }

// Put is [patterns.Store.Put].
func (s *Store[T]) Put(ctx context.Context, v *T) (patterns.Item[T], error) {
	return s.put(ctx, v, func(at *patterns.Store[T]) (patterns.Item[T], error) { return at.Put(ctx, v) })
}

// Delete is [patterns.Store.Delete].
func (s *Store[T]) Delete(ctx context.Context, key keys.Key) error {
	_, err := s.change(ctx, key, func(at *patterns.Store[T]) (patterns.Item[T], error) {
		return patterns.Item[T]{}, at.Delete(ctx, key)
	})
	return err
}
