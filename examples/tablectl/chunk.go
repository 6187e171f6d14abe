package main

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// chunk is what is moved between two saves of the state.
type chunk struct {
	rows    []row
	refused []refusal

	position      // after the chunk
	last     bool // no chunk follows
}

// refusal is a line, or a row, that is kept aside.
type refusal struct {
	row
	err error
}

// scan returns the chunks of a table from the cursor of the state on, in no order. A chunk ends after as
// many pages as full ones would take, so its size is limited as that of a page is: 4 MiB.
func (m *move) scan(ctx context.Context, t *patterns.Table[stored], f query.Filter) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		size := min(m.chunk, 1000)
		var c chunk
		pages := 0
		for page, err := range t.Scan(ctx, f, m.job.Cursor, &patterns.ScanOptions{PageSize: size, Parallel: m.parallel}) {
			for _, item := range page.Items {
				r, err2 := encoded(item)
				err = cmp.Or(err, err2)
				c.rows = append(c.rows, r)
			}
			if err != nil {
				yield(c, err)
				return
			}
			c.Cursor, c.last = page.Cursor, page.Cursor == ""
			if pages++; pages*size < m.chunk && !c.last {
				continue
			}
			if !yield(c, nil) {
				return
			}
			c, pages = chunk{}, 0
		}
	}
}

// maxChunkBytes ends a chunk of a file early if its lines are long.
const maxChunkBytes = 16 << 20

// readChunks returns the chunks of a file, from a position on, with the rows that match the filter.
func readChunks(in io.Reader, f query.Filter, from position, size int) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		l := newLines(in, from)
		for last := false; !last; {
			var c chunk
			for bytes := 0; len(c.rows)+len(c.refused) < size && bytes < maxChunkBytes; {
				r, refused, err := l.row()
				if last = err == io.EOF; last {
					break
				}
				if err != nil {
					yield(c, err)
					return
				}
				bytes += len(r.text)
				if refused != nil {
					c.refused = append(c.refused, refusal{r, refused})
				} else if f.Match(&r) {
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
