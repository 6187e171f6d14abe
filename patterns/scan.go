package patterns

import (
	"context"
	"iter"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/records"
	"github.com/azpatterns/azpatterns/query"
)

// ScanPage is a part of what a scan reads.
type ScanPage[T any] struct {
	// Items are in key order within the page. Pages are in no order. Items may be empty.
	Items []Item[T]

	// Progress counts what the scan has done, including the runs before the cursor that it
	// continued from: rows returned, as Found and Done, and requests to read pages and to divide the
	// table. Its Cursor is the position after all pages returned so far, from which [Table.Scan]
	// continues. It is valid for the same table, filter and selection only. It is "" if there are
	// no more pages.
	//
	// The cursor takes about 100 bytes, and two or three keys, for each key range that is being
	// read. There are at most [QueryOptions.Parallel] of these.
	Progress
}

// Scan reads all rows that f matches, in no order, as fast as [QueryOptions.Parallel]
// concurrent requests allow. It is for jobs that read the whole table or a large part of
// it. The zero Filter matches every row. Every class of query is permitted, unless
// [QueryOptions.Allow] is set. QueryOptions.Limit is refused with [ErrBadOption]: use a query.
//
// Each pair is a page and nil, or a zero page and an error, after which the sequence
// ends. Leaving the loop ends the reading; no goroutine remains. Memory holds at most
// Parallel pages. The scan starts at the beginning if cursor is "", otherwise after the
// page that returned cursor; one that is damaged, or of another table or scan, is
// [ErrBadCursor].
//
// Scan needs no knowledge of the keys. It first reads the rows as one range. Whenever a
// request is free, it cuts the most promising range in two: between partitions or, if a
// single partition is left of the range, between rows of it. It finds cut points in the
// keys read so far and by probes, which request the keys of one row.
//
// A result of one page takes one request. A longer result takes more requests than
// [Table.Query] makes: probes, the last page of each range, and pages that both sides of
// a cut read. These are at most about 16 × Parallel, and a quarter of the requests of
// Query. The more pages there are, the closer the speed comes to Parallel times that of
// Query. A filter that matches few of the rows gains less, because a page without rows
// does not show how far the service has read.
//
// A row that exists all the time is returned exactly once, over any number of runs that
// continue from one another's cursors. Rows inserted or deleted meanwhile may or may not
// be returned. On Cosmos DB for Table, whose results have no order, ranges are not cut.
func (t *Table[T]) Scan(ctx context.Context, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[ScanPage[T], error] {
	return scanItems[T](ctx, t.rows, f, cursor, opts)
}

// Segments divides what Scan reads with the same f and opts into up to n segments, so that
// any number of machines can share a scan. Each is a cursor of Scan, to be stored or sent:
// Scan reads from it the rows of this segment only, and the cursors of its pages resume
// within the segment. Every row belongs to exactly one segment, whether it exists now or is
// inserted later.
//
// The segments are ranges of keys, chosen so that they are of similar size if the keys are
// spread evenly. Otherwise they are not: a large partition among many small ones may be in
// one segment. So use several times as many segments as machines. Each has about a page of
// rows ([QueryOptions.PageSize]) or more, so a small table has fewer than n: one of a single
// page, or of none, is one segment, and so is a table of Cosmos DB. There are none if f
// matches no key. An n below 1 means 1.
//
// At most 4n+32 requests, of keys only: one page of each segment, and probes of one row.
// QueryOptions.Parallel limits the concurrent ones.
func (t *Table[T]) Segments(ctx context.Context, f query.Filter, n int, opts *QueryOptions) ([]string, error) {
	return segments(ctx, t.rows, f, n, opts)
}

func segments(ctx context.Context, r *records.Reader, f query.Filter, n int, opts *QueryOptions) ([]string, error) {
	p, err := r.Source.PlanScan(f, opts)
	if err != nil {
		return nil, err
	}
	return p.Divide(ctx, n)
}

func scanItems[T any](ctx context.Context, r *records.Reader, f query.Filter, cursor string, opts *QueryOptions) iter.Seq2[ScanPage[T], error] {
	return func(yield func(ScanPage[T], error) bool) {
		r.Scan(ctx, f, cursor, opts, func(page *records.Page, read fetch.ScanPage, err error) bool {
			if err != nil {
				return yield(ScanPage[T]{}, err)
			}
			n := read.Progress
			return yield(ScanPage[T]{itemsOf[T](page), Progress{Found: n.Rows, Done: n.Rows, Requests: n.Requests, Cursor: read.Cursor}}, nil)
		})
	}
}
