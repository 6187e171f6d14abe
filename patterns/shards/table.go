package shards

import (
	"context"
	"fmt"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Table is a [patterns.Table] in several accounts. Its methods are those of patterns.Table,
// with the same requests to the account that owns the partition. It is safe for concurrent
// use.
//
// An ETag is that of the row in its account: after its partition has moved, a write under an
// earlier ETag fails with [patterns.ErrConflict]. Read the row again.
type Table[T any] struct {
	shards *Shards
	tables perAccount[*patterns.Table[T]]
	any    *patterns.Table[T] // for what makes no request
}

// NewTable returns a Table of T in s. opts are those of each [patterns.Table]. It makes no
// request.
func NewTable[T any](s *Shards, opts *patterns.TableOptions[T]) (*Table[T], error) {
	if s == nil {
		return nil, fmt.Errorf("new table: shards: %w", patterns.ErrNil)
	}
	t := &Table[T]{shards: s}
	t.tables.shards = s
	t.tables.open = func(c *aztables.Client) (*patterns.Table[T], error) { return patterns.NewTable(c, opts) }
	var err error
	t.any, err = t.tables.of(s.initial[0].Name)
	return t, err
}

// Read calls f with the table of the account that owns the partition. If the partition moves
// meanwhile it calls f again, so f must do nothing but read rows of this partition and may run
// several times. It returns the error of the last f. The requests of f, and at most one for the
// directory before and after it.
func (t *Table[T]) Read(ctx context.Context, partition string, f func(*patterns.Table[T]) error) error {
	return t.shards.read(ctx, partition, on(&t.tables, f))
}

// Write calls f once, with the table of the account that owns the partition, and returns its
// error. f must write rows of this partition only, for example in a [patterns.Batch], and must
// not keep the table: rows of partitions that the account does not own are invisible, and the
// next move deletes them. While the partition moves, Write waits; if ctx ends meanwhile the error
// matches [ErrMoving] and f was not called.
//
// If the partition began to move before f returned, and f took longer than the lease of the
// directory, rows may have been copied before f wrote them: the result is
// [patterns.ErrOutcomeUnknown], whatever f returned. The requests of f, and at most one for the
// directory before and after it.
func (t *Table[T]) Write(ctx context.Context, partition string, f func(*patterns.Table[T]) error) error {
	return t.shards.write(ctx, partition, on(&t.tables, f))
}

// on returns a function that calls f with the V of an account.
func on[V any](p *perAccount[V], f func(V) error) func(string) error {
	return func(account string) error {
		v, err := p.of(account)
		if err != nil {
			return err
		}
		return f(v)
	}
}

// Get is [patterns.Table.Get].
func (t *Table[T]) Get(ctx context.Context, key keys.Key) (item patterns.Item[T], err error) {
	err = t.Read(ctx, key.Partition, func(at *patterns.Table[T]) (err error) {
		item, err = at.Get(ctx, key)
		return err
	})
	return item, err
}

// Insert is [patterns.Table.Insert].
func (t *Table[T]) Insert(ctx context.Context, v *T) (patterns.Item[T], error) {
	return t.put(ctx, v, func(at *patterns.Table[T]) (patterns.Item[T], error) { return at.Insert(ctx, v) })
}

// Upsert is [patterns.Table.Upsert].
func (t *Table[T]) Upsert(ctx context.Context, v *T, mode patterns.Mode) (patterns.Item[T], error) {
	return t.put(ctx, v, func(at *patterns.Table[T]) (patterns.Item[T], error) { return at.Upsert(ctx, v, mode) })
}

func (t *Table[T]) put(ctx context.Context, v *T, f func(*patterns.Table[T]) (patterns.Item[T], error)) (patterns.Item[T], error) {
	key, err := t.any.Key(v)
	if err != nil {
		return patterns.Item[T]{}, err
	}
	return t.change(ctx, key, f)
}

// Replace is [patterns.Table.Replace].
func (t *Table[T]) Replace(ctx context.Context, item patterns.Item[T]) (patterns.Item[T], error) {
	return t.change(ctx, item.Key, func(at *patterns.Table[T]) (patterns.Item[T], error) { return at.Replace(ctx, item) })
}

// Merge is [patterns.Table.Merge].
func (t *Table[T]) Merge(ctx context.Context, item patterns.Item[T]) (patterns.Item[T], error) {
	return t.change(ctx, item.Key, func(at *patterns.Table[T]) (patterns.Item[T], error) { return at.Merge(ctx, item) })
}

// Update is [patterns.Table.Update].
func (t *Table[T]) Update(ctx context.Context, key keys.Key, change func(*T) error) (patterns.Item[T], error) {
	return t.change(ctx, key, func(at *patterns.Table[T]) (patterns.Item[T], error) { return at.Update(ctx, key, change) })
}

// Delete is [patterns.Table.Delete].
func (t *Table[T]) Delete(ctx context.Context, key keys.Key, etag azcore.ETag) error {
	_, err := t.change(ctx, key, func(at *patterns.Table[T]) (patterns.Item[T], error) {
		return patterns.Item[T]{}, at.Delete(ctx, key, etag)
	})
	return err
}

func (t *Table[T]) change(ctx context.Context, key keys.Key, f func(*patterns.Table[T]) (patterns.Item[T], error)) (item patterns.Item[T], err error) {
	if key.Row == markerRow {
		return item, fmt.Errorf("%w: the row key is reserved", patterns.ErrBadKey)
	}
	err = t.Write(ctx, key.Partition, func(at *patterns.Table[T]) (err error) {
		item, err = f(at)
		return err
	})
	return item, err
}

// Query is [patterns.Table.Query]: the rows of all accounts, merged in key order. A filter that
// fixes partition keys is sent only to the accounts that own these; any other is sent to all
// accounts concurrently, and each page of each account is one request. With each move of
// partitions the rows after the last one are requested again. Page and Query need one more
// filter clause then, of three comparisons.
func (t *Table[T]) Query(ctx context.Context, f query.Filter, opts *patterns.QueryOptions) iter.Seq2[patterns.Item[T], error] {
	return t.merged().query(ctx, f, opts)
}

// Page is [patterns.Table.Page]: one page of the rows of all accounts, merged in key order. The
// cursor stays valid while partitions move: no row is lost or returned twice. Rows that were
// read from one account and are greater than the last row of the page are read again for the
// next page. One request to each account that the filter concerns, and possibly two for the
// directory.
func (t *Table[T]) Page(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) (patterns.Page[T], error) {
	return t.merged().page(ctx, f, cursor, opts)
}

// Scan returns the pages that [Table.Page] would return, from cursor on, with all classes of
// query permitted. Unlike Page it reads each page of an account once. Pages and rows are in key
// order. The pages that are needed for the next row are requested concurrently, one of each
// account; a range of keys is not divided as by [patterns.Table.Scan].
func (t *Table[T]) Scan(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) iter.Seq2[patterns.Page[T], error] {
	return t.merged().scan(ctx, f, cursor, opts)
}

func (t *Table[T]) merged() merged[T] {
	return merged[T]{t.shards, t.any.Explain, func(account string) (pager[T], error) { return t.tables.of(account) }}
}
