package fetch

import (
	"context"
	"iter"

	"github.com/azpatterns/azpatterns/internal/cursor"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/wire"
)

// Run reads all pages of the plan's reads, in order. The last pair has an error and nil
// Rows if reading fails. Rows may be empty. Leaving the loop cancels the requests in
// flight and waits for them.
//
// While the rows of one read are consumed, the first pages of the following reads are
// prefetched. With a limit, only as many are prefetched as the loop may still need: a
// point read returns one row at most, so there may be as many of them as rows are
// missing. A range may return all of the missing rows by itself, so several ranges are
// read concurrently only after the first turned out to be short.
func (p *Plan) Run(ctx context.Context, d Decoder) iter.Seq2[Rows, error] {
	return func(yield func(Rows, error) bool) {
		if err := p.checkTable(cursor.Cursor{}); err != nil {
			yield(nil, err)
			return
		}
		received := 0 // rows
		size := func() int {
			if p.limit == 0 {
				return p.pageSize()
			}
			return min(p.pageSize(), p.limit-received)
		}
		firstSize := size()
		window := parallel.Window{Start: p.parallel, Max: p.parallel}
		if p.limit > 0 {
			if len(p.reads) > 0 && !p.reads[0].Point {
				window.Start = 1
			}
			window.Want = func() int { return p.limit - received }
		}
		for page, err := range parallel.Ordered(ctx, len(p.reads), window, func(ctx context.Context, i int) (firstPage, error) {
			return p.readFirst(ctx, d, i, firstSize)
		}) {
			for {
				if wrong := p.checkTable(cursor.Cursor{}); wrong != nil {
					err = wrong
				}
				if err != nil {
					yield(nil, err)
					return
				}
				if page.rows != nil {
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
}
