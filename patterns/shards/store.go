package shards

import (
	"context"
	"fmt"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Store is a [patterns.Store] in several accounts, whose views have rows in the partition of the
// entity only. So these move with it. Its methods are those of patterns.Store, with the same
// requests to the account that owns the partition. Package reindex and the states of views, which
// concern a whole table, cannot be used with it. It is safe for concurrent use.
type Store[T any] struct {
	table  *Table[T]
	stores perAccount[*patterns.Store[T]]
}

// NewStore returns a Store on table. opts are those of each [patterns.Store]. It makes no
// request. An Outbox is refused with [ErrRemoteRows]. Without it a view with rows outside the
// partition is an [patterns.ErrBadView], here or in the first operation that needs it: such rows
// would be in partitions of other accounts, and would not move with the entity.
func NewStore[T any](table *Table[T], opts *patterns.StoreOptions[T]) (*Store[T], error) {
	if table == nil {
		return nil, fmt.Errorf("new store: table: %w", patterns.ErrNil)
	}
	if opts != nil && opts.Outbox != nil {
		return nil, fmt.Errorf("new store: %w", ErrRemoteRows)
	}
	s := &Store[T]{table: table}
	s.stores.shards = table.shards
	s.stores.open = func(c *aztables.Client) (*patterns.Store[T], error) {
		t, err := table.tables.open(c)
		if err != nil {
			return nil, err
		}
		return patterns.NewStore(t, opts)
	}
	_, err := s.stores.of(table.shards.initial[0].Name)
	return s, err
}

// Read is [Table.Read] with the store of the account, for example for the readers of its views.
func (s *Store[T]) Read(ctx context.Context, partition string, f func(*patterns.Store[T]) error) error {
	return s.table.shards.read(ctx, partition, on(&s.stores, f))
}

// Write is [Table.Write] with the store of the account, for example for a [patterns.StoreBatch].
func (s *Store[T]) Write(ctx context.Context, partition string, f func(*patterns.Store[T]) error) error {
	return s.table.shards.write(ctx, partition, on(&s.stores, f))
}

// Get is [patterns.Store.Get].
func (s *Store[T]) Get(ctx context.Context, key keys.Key) (item patterns.Item[T], err error) {
	err = s.Read(ctx, key.Partition, func(at *patterns.Store[T]) (err error) {
		item, err = at.Get(ctx, key)
		return err
	})
	return item, err
}

// Insert is [patterns.Store.Insert].
func (s *Store[T]) Insert(ctx context.Context, v *T) (patterns.Item[T], error) {
	return s.put(ctx, v, func(at *patterns.Store[T]) (patterns.Item[T], error) { return at.Insert(ctx, v) })
}

// Put is [patterns.Store.Put].
func (s *Store[T]) Put(ctx context.Context, v *T) (patterns.Item[T], error) {
	return s.put(ctx, v, func(at *patterns.Store[T]) (patterns.Item[T], error) { return at.Put(ctx, v) })
}

func (s *Store[T]) put(ctx context.Context, v *T, f func(*patterns.Store[T]) (patterns.Item[T], error)) (patterns.Item[T], error) {
	key, err := s.table.any.Key(v)
	if err != nil {
		return patterns.Item[T]{}, err
	}
	return s.change(ctx, key, f)
}

// Update is [patterns.Store.Update].
func (s *Store[T]) Update(ctx context.Context, key keys.Key, change func(*T) error) (patterns.Item[T], error) {
	return s.change(ctx, key, func(at *patterns.Store[T]) (patterns.Item[T], error) { return at.Update(ctx, key, change) })
}

// Delete is [patterns.Store.Delete].
func (s *Store[T]) Delete(ctx context.Context, key keys.Key) error {
	return s.Write(ctx, key.Partition, func(at *patterns.Store[T]) error { return at.Delete(ctx, key) })
}

func (s *Store[T]) change(ctx context.Context, key keys.Key, f func(*patterns.Store[T]) (patterns.Item[T], error)) (item patterns.Item[T], err error) {
	err = s.Write(ctx, key.Partition, func(at *patterns.Store[T]) (err error) {
		item, err = f(at)
		return err
	})
	return item, err
}

// Query is [patterns.Store.Query], merged as by [Table.Query].
func (s *Store[T]) Query(ctx context.Context, f query.Filter, opts *patterns.QueryOptions) iter.Seq2[patterns.Item[T], error] {
	return s.merged().query(ctx, f, opts)
}

// Page is [patterns.Store.Page], merged as by [Table.Page].
func (s *Store[T]) Page(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) (patterns.Page[T], error) {
	return s.merged().page(ctx, f, cursor, opts)
}

// Scan is [Table.Scan] of the entities of [patterns.Store.Scan].
func (s *Store[T]) Scan(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) iter.Seq2[patterns.Page[T], error] {
	return s.merged().scan(ctx, f, cursor, opts)
}

func (s *Store[T]) merged() merged[T] {
	return merged[T]{s.table.shards, s.table.any.Explain, func(account string) (pager[T], error) { return s.stores.of(account) }}
}
