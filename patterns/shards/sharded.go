package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// accessor is a [patterns.Table] or a [patterns.Store].
type accessor[T, V any] interface {
	Page(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) (patterns.Page[T], error)
	Get(ctx context.Context, key keys.Key) (patterns.Item[T], error)
	Insert(ctx context.Context, v *T) (patterns.Item[T], error)
	Update(ctx context.Context, key keys.Key, change func(*T) error) (patterns.Item[T], error)
	Within(partition string) V
}

// sharded is what [Table] and [Store] have in common. It is safe for concurrent use.
type sharded[T any, V accessor[T, V]] struct {
	shards *Shards
	at     perAccount[V]
	any    *patterns.Table[T] // for what makes no request

	// begin, if not nil, is called with the V that a write uses, and its result after the write if that counts.
	begin func(V) (after func(context.Context))
}

// ReadWithin calls f with the V of the account that owns the partition. If the partition moves
// meanwhile it calls f again, so f must do nothing but read rows of this partition and may run
// several times. It returns the error of the last f. The requests of f, and at most one for the
// directory before and after it. For about the time that it takes to read the keys of a step twice, a
// partition that moves cannot be read: ReadWithin waits; if ctx ends meanwhile the error matches
// [ErrMoving].
func (t *sharded[T, V]) ReadWithin(ctx context.Context, partition string, f func(V) error) error {
	return t.shards.read(ctx, partition, t.on(partition, f))
}

// WriteWithin calls f once, with the V of the account that owns the partition, and returns its
// error. f writes rows of this partition, for example in a [patterns.Batch] or by
// [patterns.Table.Bulk]: its argument is [patterns.Table.Within] the partition, and refuses others
// with [patterns.ErrMixedPartitions]. f must not keep it. While the partition moves, WriteWithin
// waits; if ctx ends meanwhile the error matches [ErrMoving] and f was not called.
//
// If the partition began to move before f returned, and f took longer than the lease of the
// directory, rows may have been copied before f wrote them: the result is
// [patterns.ErrOutcomeUnknown], whatever f returned. The requests of f, and at most one for the
// directory before and after it.
func (t *sharded[T, V]) WriteWithin(ctx context.Context, partition string, f func(V) error) error {
	after := func(context.Context) {}
	err := t.shards.write(ctx, partition, t.on(partition, func(at V) error {
		if t.begin != nil {
			after = t.begin(at)
		}
		return f(at)
	}))
	if !errors.Is(err, patterns.ErrOutcomeUnknown) {
		after(ctx)
	}
	return err
}

// on returns a function that calls f with the V of an account, which writes in the partition only.
func (t *sharded[T, V]) on(partition string, f func(V) error) func(string) error {
	return func(account string) error {
		v, err := t.at.of(account)
		if err != nil {
			return err
		}
		return f(v.Within(partition))
	}
}

// Get is that of [patterns.Table] or [patterns.Store].
func (t *sharded[T, V]) Get(ctx context.Context, key keys.Key) (item patterns.Item[T], err error) {
	err = t.ReadWithin(ctx, key.Partition, func(at V) (err error) {
		item, err = at.Get(ctx, key)
		return err
	})
	return item, err
}

// Insert is that of [patterns.Table] or [patterns.Store].
func (t *sharded[T, V]) Insert(ctx context.Context, v *T) (patterns.Item[T], error) {
	return t.put(ctx, v, func(at V) (patterns.Item[T], error) { return at.Insert(ctx, v) })
}

// Update is that of [patterns.Table] or [patterns.Store].
func (t *sharded[T, V]) Update(ctx context.Context, key keys.Key, change func(*T) error) (patterns.Item[T], error) {
	return t.change(ctx, key, func(at V) (patterns.Item[T], error) { return at.Update(ctx, key, change) })
}

func (t *sharded[T, V]) put(ctx context.Context, v *T, f func(V) (patterns.Item[T], error)) (patterns.Item[T], error) {
	key, err := t.any.Key(v)
	if err != nil {
		return patterns.Item[T]{}, err
	}
	return t.change(ctx, key, f)
}

func (t *sharded[T, V]) change(ctx context.Context, key keys.Key, f func(V) (patterns.Item[T], error)) (item patterns.Item[T], err error) {
	if key.Row == markerRow {
		return item, fmt.Errorf("%w: the row key is reserved", patterns.ErrBadKey)
	}
	err = t.WriteWithin(ctx, key.Partition, func(at V) (err error) {
		item, err = f(at)
		return err
	})
	return item, err
}

// Query returns the rows, or for a Store the entities, of all accounts, merged in key order. A
// filter that fixes partition keys is sent only to the accounts that own these; any other is sent
// to all accounts, [patterns.QueryOptions.Parallel] of them concurrently, and each page of each account
// is one request, or one for each exact key. With each version
// of the directory, two in a step of a move, the rows after the last one are requested again.
// Page and Query need one more filter clause then, of three comparisons.
func (t *sharded[T, V]) Query(ctx context.Context, f query.Filter, opts *patterns.QueryOptions) iter.Seq2[patterns.Item[T], error] {
	o := *cmp.Or(opts, &patterns.QueryOptions{})
	return pages.Items(t.pages(ctx, f, "", o), o.Limit, func(p patterns.Page[T]) []patterns.Item[T] { return p.Items })
}

// Page returns one page of what Query returns. The cursor stays valid while partitions move: no
// row is lost or returned twice. Rows that were read from one account and are greater than the
// last row of the page are read again for the next page. One request to each account that the
// filter concerns, and possibly two for the directory.
func (t *sharded[T, V]) Page(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) (patterns.Page[T], error) {
	for page, err := range t.pages(ctx, f, cursor, *cmp.Or(opts, &patterns.QueryOptions{})) {
		return page, err
	}
	return patterns.Page[T]{}, nil
}

// Pages returns the pages from cursor on, "" for the first, as Page returns them one after the
// other, and with the requests of Page. After an error the sequence ends; the page of that pair
// has no items, but the Cursor with which the page can be read again. See [patterns.Table.Pages].
func (t *sharded[T, V]) Pages(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) iter.Seq2[patterns.Page[T], error] {
	return pages.Each(cursor, func(cursor string) (patterns.Page[T], error) {
		return t.Page(ctx, f, cursor, opts)
	}, func(p *patterns.Page[T]) *string { return &p.Cursor })
}

// Scan returns the pages that Page would return, from cursor on, with all classes of query
// permitted unless [patterns.QueryOptions.Allow] is set. Unlike Page it reads each page of an account
// once. Pages and rows are in key order. A Limit is refused with [patterns.ErrBadOption].
// The pages that are needed for the next row are requested concurrently, one of each account; a
// range of keys is not divided as by [patterns.Table.Scan].
func (t *sharded[T, V]) Scan(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) iter.Seq2[patterns.Page[T], error] {
	o := *cmp.Or(opts, &patterns.QueryOptions{})
	o.Allow = cmp.Or(o.Allow, query.TableScan)
	if o.Limit != 0 {
		return func(yield func(patterns.Page[T], error) bool) {
			yield(patterns.Page[T]{}, azerr.Errorf("scan: %w: Limit has no meaning for a scan", azerr.ErrBadOption))
		}
	}
	return t.pages(ctx, f, cursor, o)
}
