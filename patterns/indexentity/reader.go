package indexentity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Reader reads an index. It is safe for concurrent use.
//
// The parameter partition of its methods is the partition key of the primaries in an
// index made by [Intra]. An index with [Options.Partition] passes it to that
// function. Other indexes do not use it.
type Reader[T any] struct {
	index *Index[T]
	store *patterns.Store[T]
	lists *patterns.Table[map[string]any]
	err   error // of each call
}

// On returns the reader of ix in store. It makes no request. If ix is not one of the store's
// views, or is invalid, each call of the reader fails with [patterns.ErrBadView] before any
// request.
func (ix *Index[T]) On(store *patterns.Store[T]) *Reader[T] {
	if ix == nil {
		ix = new(Index[T])
		ix.def.Refuse(fmt.Errorf("index: %w", patterns.ErrNil))
	}
	r := &Reader[T]{index: ix, store: store}
	client, err := naming.Client(store, ix, ix.table)
	if r.err = err; err == nil {
		r.lists, r.err = patterns.NewTable(client, &patterns.TableOptions[map[string]any]{Keyless: true})
	}
	return r
}

// key returns the key of the list of a value; see [Index.key].
func (r *Reader[T]) key(partition, value string) (keys.Key, error) {
	if r.err != nil {
		return keys.Key{}, r.err
	}
	return r.index.key(partition, value)
}

// Get returns the list of a value: the keys of the primaries that have it, in the order
// of [keys.Key.Compare]. It is empty if no primary has the value. A list that is updated
// through the outbox may contain a primary that was deleted or has another value by now.
// One request.
func (r *Reader[T]) Get(ctx context.Context, partition, value string) ([]keys.Key, error) {
	at, err := r.key(partition, value)
	if err != nil {
		return nil, r.fail("get", err)
	}
	members, err := r.members(ctx, at)
	if err != nil {
		return nil, r.fail("get", err)
	}
	return members, nil
}

// members reads the list at key.
func (r *Reader[T]) members(ctx context.Context, key keys.Key) ([]keys.Key, error) {
	texts, err := r.read(ctx, key)
	if err != nil {
		return nil, err
	}
	members := make([]keys.Key, len(texts))
	for i, text := range texts {
		members[i] = r.index.list.key(text, key.Partition)
		if members[i].Validate() != nil || r.index.list.text(members[i]) != text { // no Store has added it
			return nil, fmt.Errorf("list: %w: a member is not a key", patterns.ErrBadReply)
		}
	}
	return members, nil
}

func (r *Reader[T]) read(ctx context.Context, key keys.Key) ([]string, error) {
	if r.index.blobs != nil {
		members, _, err := r.index.blobTarget().read(ctx, key)
		return members, err
	}
	item, err := r.lists.Get(ctx, key)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.index.list.read(item.Value)
}

const (
	defaultParallel = 8
	defaultLimit    = 100 // of a page
)

// options returns the options of a read of entities.
func (r *Reader[T]) options(opts *patterns.QueryOptions) (patterns.QueryOptions, error) {
	var o patterns.QueryOptions
	if opts != nil {
		o = *opts
	}
	if r.err != nil {
		return o, r.err
	}
	if o.Select != nil {
		return o, azerr.Errorf("%w: Select: the indexed value may depend on any property", azerr.ErrBadOption)
	}
	_, err := r.store.Table().Explain(query.PartitionKey.Eq(""), &o)
	return o, err
}

// Query returns the entities that have the value, in the order of [Reader.Get]. It reads
// the list and then the entities, as the loop needs them. It leaves out entities that
// were deleted or have another value by now. [patterns.QueryOptions.Select] is refused with
// [patterns.ErrBadOption], because the value may depend on any property. Each pair is an item and nil, or a zero item
// and an error, after which the sequence ends.
//
// One request for the list and one for each entity, up to [patterns.QueryOptions.Parallel] of them
// concurrently.
func (r *Reader[T]) Query(ctx context.Context, partition, value string, opts *patterns.QueryOptions) iter.Seq2[patterns.Item[T], error] {
	return func(yield func(patterns.Item[T], error) bool) {
		o, err := r.options(opts)
		if err != nil {
			yield(patterns.Item[T]{}, r.fail("query", err))
			return
		}
		at, err := r.key(partition, value)
		if err != nil {
			yield(patterns.Item[T]{}, r.fail("query", err))
			return
		}
		members, err := r.members(ctx, at)
		if err != nil {
			yield(patterns.Item[T]{}, r.fail("query", err))
			return
		}
		left := o.Limit
		for item, err := range r.entities(ctx, members, value, o) {
			if err != nil {
				yield(patterns.Item[T]{}, r.fail("query", err))
				return
			}
			if !yield(item, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// Page reads one page of what [Reader.Query] returns: the first if cursor is "",
// otherwise the one after the page that returned cursor. It may be empty although more
// pages follow, if the entities that the list names no longer have the value. Entities
// that are added or removed between two pages may or may not be returned. Page fails with
// [patterns.ErrBadCursor] if the cursor is damaged, or belongs to another index or value.
//
// One request for the list, which each page reads again, and one for each of its next
// [patterns.QueryOptions.Limit] entities, or PageSize if that is zero, or 100 if both are, up to [patterns.QueryOptions.Parallel] of them concurrently.
func (r *Reader[T]) Page(ctx context.Context, partition, value, cursor string, opts *patterns.QueryOptions) (patterns.Page[T], error) {
	page, err := r.page(ctx, partition, value, cursor, opts)
	if err != nil {
		return patterns.Page[T]{}, r.fail("page", err)
	}
	return page, nil
}

// Pages returns the pages from cursor on, "" for the first, as [Reader.Page] returns them one
// after the other. After an error the sequence ends; the page of that pair has no items, but the
// Cursor with which the page can be read again. See [patterns.Table.Pages].
func (r *Reader[T]) Pages(ctx context.Context, partition, value, cursor string, opts *patterns.QueryOptions) iter.Seq2[patterns.Page[T], error] {
	return pages.Each(cursor, func(cursor string) (patterns.Page[T], error) {
		return r.Page(ctx, partition, value, cursor, opts)
	}, func(p *patterns.Page[T]) *string { return &p.Cursor })
}

func (r *Reader[T]) page(ctx context.Context, partition, value, after string, opts *patterns.QueryOptions) (page patterns.Page[T], err error) {
	o, err := r.options(opts)
	if err != nil {
		return page, err
	}
	limit := cmp.Or(o.Limit, o.PageSize, defaultLimit)
	at, err := r.key(partition, value)
	if err != nil {
		return page, err
	}
	identity := []string{"indexentity", r.index.def.Name, at.Partition, at.Row}
	start, ok := pages.OpenCursor(after, identity...)
	if !ok {
		return page, patterns.ErrBadCursor
	}
	members, err := r.members(ctx, at)
	if err != nil {
		return page, err
	}
	url := r.address()
	if !start.Of(url) {
		return page, patterns.ErrBadCursor
	}
	if after != "" {
		members = following(members, list{}.key(string(start.Position), ""))
	}
	if len(members) > limit {
		members = members[:limit]
		page.Cursor = pages.SealCursor([]byte(list{}.text(members[limit-1])), url, identity...)
	}
	for item, err := range r.entities(ctx, members, value, o) {
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, item)
	}
	return page, nil
}

// following returns the sorted members that follow last.
func following(members []keys.Key, last keys.Key) []keys.Key {
	i, found := slices.BinarySearchFunc(members, last, keys.Key.Compare)
	if found {
		i++
	}
	return members[i:]
}

// address returns the address of the table or container that contains the lists. That of
// a table is known after its first request.
func (r *Reader[T]) address() string {
	if r.index.blobs != nil {
		url, _, _ := strings.Cut(r.index.blobs.URL(), "?")
		return url
	}
	url, _ := r.lists.URL()
	return url
}

// entities reads the members, and returns those that have the value.
func (r *Reader[T]) entities(ctx context.Context, members []keys.Key, value string, o patterns.QueryOptions) iter.Seq2[patterns.Item[T], error] {
	return func(yield func(patterns.Item[T], error) bool) {
		if o.Limit > 0 {
			o.Parallel = min(cmp.Or(o.Parallel, defaultParallel), o.Limit) // read ahead
		}
		o.Limit = 0 // counts entities that have the value
		var exact []query.Filter
		for _, m := range members {
			exact = append(exact, query.And(query.PartitionKey.Eq(m.Partition), query.RowKey.Eq(m.Row)))
		}
		if len(exact) == 0 {
			return
		}
		for item, err := range r.store.Query(ctx, query.Or(exact...), &o) {
			if (err != nil || r.has(item.Value, value)) && !yield(item, err) {
				return
			}
		}
	}
}

// has reports whether e has the value. e is a copy, because the function of the value may
// change it by mistake.
func (r *Reader[T]) has(e T, value string) bool {
	own, ok := r.index.def.Value(&e)
	return ok && r.index.def.Normalize(own) == r.index.def.Normalize(value)
}

// fail returns err with the operation and the name of the index.
func (r *Reader[T]) fail(op string, err error) error {
	return fmt.Errorf("%s: index %q: %w", op, r.index.def.Name, err)
}
