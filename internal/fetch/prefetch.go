package fetch

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// Run reads all pages of the plan's reads, in order, and calls yield for each until it
// returns false. Rows may be empty. If reading fails, the last call has the error and
// nil Rows. When Run returns, no request is in flight.
//
// While the rows of one read are consumed, the first pages of the following reads are
// prefetched. With a limit, only as many are prefetched as yield may still need: a point
// read returns one row at most, so there may be as many of them as rows are missing. A
// range may return all of the missing rows by itself, so several ranges are read
// concurrently only after the first turned out to be short.
//
// Run is not an iterator because those are inlined into the code of each type of rows.
func (p *ReadPlan) Run(ctx context.Context, d PageDecoder, yield func(Rows, error) bool) {
	if err := p.checkTable(pages.Cursor{}); err != nil {
		yield(nil, err)
		return
	}
	received := 0 // rows
	short := false
	size := func() int {
		if p.limit == 0 || short {
			return p.pageSize()
		}
		return min(p.pageSize(), p.limit-received)
	}
	firstSize := size()
	window := calls.Window{Start: p.parallel, Max: p.parallel}
	if p.limit > 0 {
		if len(p.reads) > 0 && !p.reads[0].Point {
			window.Start = 1
		}
		window.Want = func() int { return p.limit - received }
	}
	for page, err := range calls.Ordered(ctx, len(p.reads), window, func(ctx context.Context, i int) (firstPage, error) {
		return p.readFirst(ctx, d, i, firstSize)
	}) {
		for {
			if wrong := p.checkTable(pages.Cursor{}); wrong != nil {
				err = wrong // the rows are of another table
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if page.rows != nil {
				p.drop(page.rows)
				short = p.source.view != nil // nothing limits how many rows are dropped
				n := page.rows.Len()
				if received += n; p.limit > 0 && received >= p.limit {
					page.rows.Trim(0, n-(received-p.limit))
					yield(page.rows, nil)
					return
				}
				if !yield(page.rows, nil) {
					return
				}
			}
			if page.next == (wire.Position{}) {
				break
			}
			page.rows, page.next, err = p.readPage(ctx, d, p.reads[page.read].Filter, page.next, size())
		}
	}
}
