package secondaryindex

import (
	"context"
	"fmt"
	"iter"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// ReadOptions are the options of [Reader.Lookup], [Reader.Range] and [Reader.Prefix].
// nil and the zero value mean the defaults.
type ReadOptions struct {
	// Limit is the most entries to give. Zero means all.
	Limit int

	// PageSize is how many rows to ask for in one request, 1 to 1000. Zero means
	// 1000, or Limit where that is less.
	PageSize int
}

// Get reads the entry with the value, or fails with [patterns.ErrNotFound]. One
// request. An index that is not unique may have several: use [Reader.Lookup]; Get fails
// with [ErrNonUnique].
func (r *Reader[T]) Get(ctx context.Context, partition, value string) (Entry[T], error) {
	if r.index.opts.NonUnique {
		return Entry[T]{}, fmt.Errorf("get: index %q: %w", r.index.by.Name, ErrNonUnique)
	}
	row, err := r.index.layout.row(value, "")
	if err != nil {
		return Entry[T]{}, fmt.Errorf("get: index %q: %w", r.index.by.Name, err)
	}
	return r.at(ctx, keys.Key{Partition: r.index.partition(partition), Row: row})
}

// at reads the entry in the row at key.
func (r *Reader[T]) at(ctx context.Context, key keys.Key) (Entry[T], error) {
	item, err := r.table.Get(ctx, key)
	if err != nil {
		return Entry[T]{}, fmt.Errorf("get: index %q: %w", r.index.by.Name, err)
	}
	e, ok := r.entry(item)
	if !ok {
		return e, fmt.Errorf("get: index %q: %w", r.index.by.Name, patterns.ErrNotFound)
	}
	return e, nil
}

// The sequences below give each entry with nil, in the order of the index: by value,
// in the order of [keys.Compare] of the escaped values, and by the primaries' keys
// where they have the same. An error comes last, with a zero Entry. They read as the
// loop goes on, a page at a time, and stop when it breaks off. They can be run again,
// which reads again. On Cosmos DB for Table, which keeps no order, Range and Prefix
// fail with [patterns.ErrUnordered].

// Lookup gives all entries with the value: at most one, where the index is unique.
// One request for each 1,000.
func (r *Reader[T]) Lookup(ctx context.Context, partition, value string, opts *ReadOptions) iter.Seq2[Entry[T], error] {
	rows, err := r.index.layout.exactly(value)
	return r.read(ctx, "lookup", partition, rows, err, opts)
}

// Range gives the entries with a value from from up to, and without, to. "" is no
// bound: Range of "" and "" is the whole index. One request for each 1,000.
func (r *Reader[T]) Range(ctx context.Context, partition, from, to string, opts *ReadOptions) iter.Seq2[Entry[T], error] {
	rows, err := r.index.layout.between(from, to)
	return r.read(ctx, "range", partition, rows, err, opts)
}

// Prefix gives the entries with a value that begins with prefix, and no others. One
// request for each 1,000.
func (r *Reader[T]) Prefix(ctx context.Context, partition, prefix string, opts *ReadOptions) iter.Seq2[Entry[T], error] {
	rows, err := r.index.layout.prefix(prefix)
	return r.read(ctx, "prefix", partition, rows, err, opts)
}

func (r *Reader[T]) read(ctx context.Context, what, partition string, rows keys.Range, err error, opts *ReadOptions) iter.Seq2[Entry[T], error] {
	return func(yield func(Entry[T], error) bool) {
		fail := func(err error) { yield(Entry[T]{}, fmt.Errorf("%s: index %q: %w", what, r.index.by.Name, err)) }
		if err != nil {
			fail(err)
			return
		}
		var o ReadOptions
		if opts != nil {
			o = *opts
		}
		q := patterns.QueryOptions{PageSize: o.PageSize, Ordered: what != "lookup"}
		if o.Limit < 0 {
			q.Limit = o.Limit // refused there
		}
		if o.PageSize == 0 && o.Limit > 0 {
			q.PageSize = min(o.Limit, maxPage)
		}
		left := o.Limit
		for item, err := range r.table.Query(ctx, r.filter(partition, rows), &q) {
			if err != nil {
				fail(err)
				return
			}
			e, ok := r.entry(item)
			if !ok {
				continue
			}
			if !yield(e, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// maxPage is the most rows that the service gives in one answer.
//
// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
const maxPage = 1000

func (r *Reader[T]) filter(partition string, rows keys.Range) query.Filter {
	return query.And(query.PartitionKey.Eq(r.index.partition(partition)), query.RowKey.Within(rows))
}
