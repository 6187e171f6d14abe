package regions

import (
	"context"
	"errors"
	"iter"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// ScanPage is a part of what a scan reads. All of it is from the Source.
type ScanPage[T any] struct {
	// Items are in key order within the page. Items may be empty.
	Items []Item[T]

	// Progress is that of [patterns.ScanPage]. Its Cursor is not valid for a patterns.Table.
	patterns.Progress
	Source
}

// Scan reads all rows that f matches, in no order, as [patterns.Table.Scan] does. It reads from
// the primary, or from the secondary while the primary is down. If that region fails, Scan
// continues in the other one after the keys of the last rows of each segment: no row is repeated,
// and none is missing that both regions have. Pages that were requested and not returned yet
// are requested again. If both regions fail in succession, the sequence ends with an error.
//
// A page that takes long is requested again from the same region, within the limit of hedges:
// the segments of a scan have continuation tokens, and the whole scan would have to change its
// region for one of them.
func (t *Table[T]) Scan(ctx context.Context, f query.Filter, cursor string, opts *patterns.QueryOptions) iter.Seq2[ScanPage[T], error] {
	return func(yield func(ScanPage[T], error) bool) {
		pos, err := t.open("scan", f, cursor)
		for failures := 0; err == nil; failures++ {
			var returned int
			if returned, err = t.scan(ctx, f, &pos, failures > 0, opts, yield); err == nil {
				return
			}
			if returned > 0 {
				failures = 0
			}
			var m *movedError
			if !errors.As(err, &m) || failures > 1 || failures == 1 && m.region == Primary {
				break
			}
			pos.Region, err = m.region.other(), nil
			// The tokens are those of the region that failed.
			ctx = fetch.ByKey(ctx)
		}
		yield(ScanPage[T]{}, err)
	}
}

// scan scans from pos in one region, and moves pos. It returns the number of pages.
func (t *Table[T]) scan(ctx context.Context, f query.Filter, pos *position, patient bool, opts *patterns.QueryOptions, yield func(ScanPage[T], error) bool) (returned int, err error) {
	ctx, p := permit(ctx, &permission{pinned: pos.Region, sticky: true, patient: patient})
	if p == nil && pos.Region == Secondary {
		ctx = fetch.ByKey(ctx)
	}
	for rows, err := range t.rows.Scan(ctx, f, pos.Inner, opts) {
		source, err := sourceOf(p, err == nil, err)
		if err != nil {
			return returned, err
		}
		page := ScanPage[T]{Items: itemsOf(rows.Items, source), Progress: rows.Progress, Source: source}
		if pos.Region, pos.Inner = source.Region, rows.Cursor; rows.Cursor != "" {
			page.Cursor = t.seal("scan", f, *pos)
		}
		if returned++; !yield(page, nil) {
			return returned, nil
		}
	}
	return returned, nil
}
