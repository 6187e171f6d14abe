package patterns

import (
	"context"
	"iter"

	"github.com/azpatterns/azpatterns/query"
)

// ScanOptions are the options of [Table.Scan]. nil and the zero value mean the
// defaults.
type ScanOptions struct {
	// Select is that of [QueryOptions].
	Select []string

	// PageSize is how many rows to ask for in one request, 1 to 1000. Zero means
	// 1000.
	PageSize int

	// Parallel is how many requests may be under way at once. Zero means 8. One
	// partition gives about 2,000 rows a second whoever asks, so that more is of use
	// up to the number of partitions that the service keeps on different servers.
	//
	// https://learn.microsoft.com/azure/storage/tables/scalability-targets
	Parallel int
}

// ScanPage is a part of what a scan reads.
type ScanPage[T any] struct {
	// Items are in key order within the page; pages come in no order. Items may be
	// empty.
	Items []Item[T]

	// Cursor takes the scan up again behind all pages given so far, also in another
	// process. It is opaque, safe in a URL, and tied to table, filter and selection.
	// It is "" when there is no more.
	//
	// It takes some 100 bytes, and two or three keys, for each range being read, of
	// which there are at most Parallel.
	Cursor string

	Progress ScanProgress
}

// ScanProgress says how far a scan is, including the runs before the cursor that it
// was taken up at.
type ScanProgress struct {
	Rows     int // given
	Requests int // made for them, those to divide the table included, SDK retries not
	Segments int // ranges of keys that were read, or are being read, by themselves
}

// Scan reads all rows that f matches, in no order, as fast as
// [ScanOptions.Parallel] requests at once can: for jobs that must see the whole
// table, or a large part of it. The zero Filter is every row. No class of query is
// refused.
//
// Each pair is a page and nil, or a zero page and an error, after which the
// sequence ends. Breaking off leaves nothing running. Memory holds at most Parallel
// pages.
//
// Nothing needs to be known of the keys. The rows are read as one range at first;
// whenever a request is free, the range that promises the most is cut in two: between
// partitions or, where it is down to a single one, between rows of it. Where to cut
// shows from the keys read so far and from probes, which ask for the keys of one row.
//
// A result of one page takes one request. A longer one takes more than [Table.Query]
// would need: probes, the last page of each range, pages that both sides of a cut
// read. These are about 16 × Parallel at most, and a quarter of what Query needs. The more
// pages, the nearer the speed comes to Parallel times that of Query. A filter that
// lets few of the rows through gains less, since the service does not tell how far it
// came with a page that holds none.
//
// A row that is there all the time is given exactly once, also over any number of
// runs that go on from one another's cursors. Rows inserted or deleted meanwhile
// may be seen or not. On Cosmos DB for Table, whose results have no order, ranges
// are not cut.
func (t *Table[T]) Scan(ctx context.Context, f query.Filter, cursor string, opts *ScanOptions) iter.Seq2[ScanPage[T], error] {
	return t.rows.scan(ctx, f, cursor, opts)
}

// Scan is [Table.Scan].
func (r *Reader[U]) Scan(ctx context.Context, f query.Filter, cursor string, opts *ScanOptions) iter.Seq2[ScanPage[U], error] {
	return r.rows.scan(ctx, f, cursor, opts)
}

func (r *rows[T]) scan(ctx context.Context, f query.Filter, cursor string, opts *ScanOptions) iter.Seq2[ScanPage[T], error] {
	var o ScanOptions
	if opts != nil {
		o = *opts
	}
	return func(yield func(ScanPage[T], error) bool) {
		q, err := r.plan(f, &QueryOptions{Select: o.Select, PageSize: o.PageSize, Parallel: o.Parallel, Allow: query.TableScan})
		if err != nil {
			yield(ScanPage[T]{}, err)
			return
		}
		s := &scan[T]{plan: q}
		if err := s.resume(cursor); err != nil {
			yield(ScanPage[T]{}, err)
			return
		}
		s.run(ctx, yield)
	}
}
