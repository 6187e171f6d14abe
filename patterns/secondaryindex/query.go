package secondaryindex

import (
	"context"
	"iter"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Values is a set of values to query an index for: those of [Equal], [Prefix] or
// [Range]. The zero Values is all values. A Values is immutable and safe for concurrent use.
type Values struct {
	kind     valuesKind
	from, to string
	in       bool
	at       string // the partition of the index, if in is set
}

type valuesKind int

const (
	inRange valuesKind = iota
	equal
	withPrefix
)

// Equal returns the set of the one value.
func Equal(value string) Values { return Values{kind: equal, from: value} }

// Prefix returns the set of all values that begin with prefix.
func Prefix(prefix string) Values { return Values{kind: withPrefix, from: prefix} }

// Range returns the set of all values from from, inclusive, to to, exclusive, in the
// order of the index. "" is no bound.
func Range(from, to string) Values { return Values{from: from, to: to} }

// In returns the values in one partition of the index, whose key is that of the index's rows: what
// [Options.Partition] returned. In an index with that option, [Prefix], [Range] and the zero Values
// need In, because their values may be in several partitions.
func (v Values) In(partition string) Values {
	v.in, v.at = true, partition
	return v
}

// rows returns the range of the row keys of the values.
func (v Values) rows(l layout) (keys.Range, error) {
	switch v.kind {
	case equal:
		return l.exactly(v.from)
	case withPrefix:
		return l.prefix(v.from)
	}
	return l.between(v.from, v.to)
}

// Query returns the entries of the values, ordered by value and then by the key of the
// primary. partition is the partition key of the primaries; with [Values.In] it must be "". A
// prefix or a range without In, in an index with [Options.Partition], is an error before any
// request. Values are in the order of [keys.Compare] of their escaped form. Each pair is
// an entry and nil, or a zero entry and an error, after which the sequence ends. Rows are
// read as the loop needs them, a page at a time. Each run of the sequence reads again.
//
// With [patterns.QueryOptions.Select] the Values have the selected properties only, and
// [Reader.Check] reads such an entry again. If the index finds the primaries of rows by a function,
// [Options.Owner], whole rows are read, because the function may depend on any property.
//
// One request for each 1,000 entries. On Cosmos DB for Table, whose results have no
// order, Query fails with [patterns.ErrUnordered] except for [Equal].
func (r *Reader[T]) Query(ctx context.Context, partition string, values Values, opts *patterns.QueryOptions) iter.Seq2[Entry[T], error] {
	return func(yield func(Entry[T], error) bool) {
		filter, q, selected, err := r.plan(partition, values, opts)
		if err != nil {
			yield(Entry[T]{}, r.fail("query", err))
			return
		}
		left := q.Limit
		if left > 0 {
			// Rows that are not entries do not count, so the loop has to count the entries.
			if q.Limit = 0; q.PageSize == 0 {
				q.PageSize = min(left, maxPage)
			}
		}
		r.copies.Query(ctx, filter, q, func(record *txn.Record, err error) bool {
			if err != nil {
				return yield(Entry[T]{}, r.fail("query", err))
			}
			e, ok := r.entry(record, selected)
			if !ok || e.reserved {
				return true
			}
			left--
			return yield(e, nil) && left != 0
		})
	}
}

// maxPage is the largest number of rows in a response of the service.
//
// https://learn.microsoft.com/rest/api/storageservices/query-timeout-and-pagination
const maxPage = 1000

// Page is a part of the result of a query.
type Page[T any] struct {
	// Entries may be empty although more pages follow.
	Entries []Entry[T]

	// Cursor is the position after this page, "" if there are no more pages. It is opaque,
	// safe in a URL, valid in other processes, and does not expire. It is valid only for
	// the same index, partition and values.
	Cursor string
}

// Page reads one page of what [Reader.Query] returns: the first if cursor is "",
// otherwise the one after the page that returned cursor. It fails with
// [patterns.ErrBadCursor] if the cursor is damaged or belongs to another query. One
// request.
func (r *Reader[T]) Page(ctx context.Context, partition string, values Values, cursor string, opts *patterns.QueryOptions) (Page[T], error) {
	filter, q, selected, err := r.plan(partition, values, opts)
	if err != nil {
		return Page[T]{}, r.fail("page", err)
	}
	rows, next, err := r.copies.Page(ctx, filter, cursor, q)
	if err != nil {
		return Page[T]{}, r.fail("page", err)
	}
	page := Page[T]{Cursor: next}
	if rows == nil {
		return page, nil
	}
	for i := range rows.Records {
		if e, ok := r.entry(&rows.Records[i], selected); ok && !e.reserved {
			page.Entries = append(page.Entries, e)
		}
	}
	r.copies.Release(rows)
	return page, nil
}

// Pages returns the pages from cursor on, "" for the first, as [Reader.Page] returns them one
// after the other. After an error the sequence ends; the page of that pair has no entries, but the
// Cursor with which the page can be read again. See [patterns.Table.Pages].
func (r *Reader[T]) Pages(ctx context.Context, partition string, values Values, cursor string, opts *patterns.QueryOptions) iter.Seq2[Page[T], error] {
	return pages.Each(cursor, func(cursor string) (Page[T], error) {
		return r.Page(ctx, partition, values, cursor, opts)
	}, func(p *Page[T]) *string { return &p.Cursor })
}

// plan returns the query for the rows of the values, and the properties that the entries have, nil for all.
func (r *Reader[T]) plan(partition string, values Values, opts *patterns.QueryOptions) (f query.Filter, q *patterns.QueryOptions, selected []string, err error) {
	if r.err != nil {
		return f, nil, nil, r.err
	}
	q = new(patterns.QueryOptions)
	if opts != nil {
		*q = *opts
	}
	q.Ordered = q.Ordered || values.kind != equal
	rows, err := values.rows(r.index.layout)
	if err == nil {
		partition, err = r.index.partitionFor(partition, values)
	}
	if err != nil {
		return f, nil, nil, err
	}
	f = query.And(query.PartitionKey.Eq(partition), query.RowKey.Within(rows))
	if selected = q.Select; selected != nil {
		_, err = r.copies.Source.Plan(f, q) // the names
		if q.Select = append(slices.Clip(selected), view.PropOwnerPK, view.PropOwnerRK, view.PropView, view.PropState); r.index.owner != nil || r.store.Engine().Views.HasExpiring() {
			q.Select = nil
		}
	}
	return f, q, selected, err
}

// partitionFor returns the partition key of the rows of values, of the primaries in a partition.
func (ix *Index[T]) partitionFor(primaries string, values Values) (string, error) {
	switch {
	case values.in && primaries != "":
		return "", azerr.Errorf("%w: both Values.In and the partition of the primaries", azerr.ErrBadOption)
	case values.in:
		return values.at, nil
	case ix.def.Partition != nil && values.kind != equal:
		return "", azerr.Errorf("%w: a prefix or a range in an index with Options.Partition needs Values.In", azerr.ErrBadOption)
	}
	return ix.partitionOf(primaries, values.from), nil
}
