package main

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/azpatterns/azpatterns/patterns"
)

// chunk is what is moved between two saves of the state.
type chunk struct {
	rows    []row
	refused []row // lines and rows that are kept aside

	position      // after the chunk
	last     bool // no chunk follows
}

// scan returns the chunks of a table from the cursor of the state on, in no order. A chunk ends after as
// many pages as full ones would take, so its size is limited as that of a page is: 4 MiB.
func (m *move) scan(ctx context.Context, t *patterns.Table[stored]) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		size := min(m.chunk, 1000)
		var c chunk
		pages := 0
		for page, err := range t.Scan(ctx, m.filter, m.job.Cursor, &patterns.ScanOptions{PageSize: size, Parallel: m.parallel}) {
			for _, item := range page.Items {
				r, err2 := encoded(item)
				err = cmp.Or(err, err2)
				c.rows = append(c.rows, r)
			}
			c.Cursor, c.last = page.Cursor, page.Cursor == ""
			if pages++; err == nil && !c.last && pages*size < m.chunk {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
			c, pages = chunk{}, 0
		}
	}
}

// maxChunkBytes ends a chunk of a file early if its lines are long.
const maxChunkBytes = 16 << 20

// lines returns the chunks of a file, from the position of the state on, with the rows that match the
// filter.
func (m *move) lines(in io.Reader) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		l := newLines(in, m.job.position)
		for last := false; !last; {
			var c chunk
			for bytes := 0; len(c.rows)+len(c.refused) < m.chunk && bytes < maxChunkBytes; {
				r, err := l.row()
				if last = err == io.EOF; last {
					break
				}
				if err != nil {
					yield(c, err)
					return
				}
				bytes += len(r.text)
				if r.refused != nil {
					c.refused = append(c.refused, r)
				} else if m.filter.Match(&r) {
					c.rows = append(c.rows, r)
				}
			}
			c.last, c.Offset, c.Line = last, l.offset, l.number
			if !yield(c, nil) {
				return
			}
		}
	}
}
