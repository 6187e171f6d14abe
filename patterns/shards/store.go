package shards

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Store is a [patterns.Store] in several accounts, whose views have rows in the partition of the
// entity only. So these move with it. Its methods are those of patterns.Store, with the same
// requests to the account that owns the partition. Package reindex and the states of views, which
// concern a whole table, cannot be used with it. It is safe for concurrent use.
type Store[T any] struct {
	sharded[T, *patterns.Store[T]]
}

// NewStore returns a Store on table. opts are those of each [patterns.Store]. It makes no
// request. An Outbox is refused with [ErrRemoteRows], and so are lookup rows. Without an Outbox a view with rows outside the
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
			if v.Shape.Kind == patterns.Lookups { // the documentation of the package has the reasons
				return nil, fmt.Errorf("new store: view %q: %w", v.Name, ErrRemoteRows)
			}
		}
		return store, nil
	}
	_, err := s.at.of(table.shards.initial[0].Name)
	return s, err
}

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
