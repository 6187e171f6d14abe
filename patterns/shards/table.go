package shards

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Table is a [patterns.Table] in several accounts. Its methods are those of patterns.Table,
// with the same requests to the account that owns the partition. It is safe for concurrent
// use.
//
// An ETag is that of the row in its account: after its partition has moved, a write under an
// earlier ETag fails with [patterns.ErrConflict]. Read the row again.
type Table[T any] struct {
	sharded[T, *patterns.Table[T]]
}

// NewTable returns a Table of T in s. opts are those of each [patterns.Table]. It makes no
// request.
func NewTable[T any](s *Shards, opts *patterns.TableOptions[T]) (*Table[T], error) {
	if s == nil {
		return nil, fmt.Errorf("new table: shards: %w", patterns.ErrNil)
	}
	t := &Table[T]{}
	t.shards, t.at.shards = s, s
	t.at.open = func(c *aztables.Client) (*patterns.Table[T], error) { return patterns.NewTable(c, opts) }
	var err error
	t.any, err = t.at.of(s.initial[0].Name)
	return t, err
}

// Upsert is [patterns.Table.Upsert].
func (t *Table[T]) Upsert(ctx context.Context, v *T, mode patterns.Mode) (patterns.Item[T], error) {
	return t.put(ctx, v, func(at *patterns.Table[T]) (patterns.Item[T], error) { return at.Upsert(ctx, v, mode) })
}

// Replace is [patterns.Table.Replace].
func (t *Table[T]) Replace(ctx context.Context, item patterns.Item[T]) (patterns.Item[T], error) {
	return t.change(ctx, item.Key, func(at *patterns.Table[T]) (patterns.Item[T], error) { return at.Replace(ctx, item) })
}

// Merge is [patterns.Table.Merge].
func (t *Table[T]) Merge(ctx context.Context, item patterns.Item[T]) (patterns.Item[T], error) {
	return t.change(ctx, item.Key, func(at *patterns.Table[T]) (patterns.Item[T], error) { return at.Merge(ctx, item) })
}

// Delete is [patterns.Table.Delete].
func (t *Table[T]) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	_, err := t.change(ctx, key, func(at *patterns.Table[T]) (patterns.Item[T], error) {
		return patterns.Item[T]{}, at.Delete(ctx, key, etag)
	})
	return err
}
