package main

import (
	"context"
	"flag"
	"iter"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// filterFlags select rows.
type filterFlags struct {
	where     string
	allowScan bool
}

func (f *filterFlags) register(flags *flag.FlagSet) {
	flags.StringVar(&f.where, "where", "", "only the rows that match this `filter` of the Table service")
	flags.BoolVar(&f.allowScan, "allow-scan", false, "permit a -where for which the service reads the whole table")
}

// filter returns the filter, or an error if it is malformed or costs too much. Without -where the
// whole table is read, which needs no permission.
func (f *filterFlags) filter() (query.Filter, error) {
	if f.where == "" {
		return query.Filter{}, nil
	}
	filter, err := query.Parse(f.where)
	if err != nil {
		return filter, usagef("-where: %w", err)
	}
	allow := query.PartitionRange
	if f.allowScan {
		allow = query.TableScan
	}
	if err := query.Explain(filter).Check(allow); err != nil {
		return filter, usagef("-where: %w; -allow-scan permits it", err)
	}
	return filter, nil
}

// maxChunkBytes ends a chunk early if its rows are large.
const maxChunkBytes = 16 << 20

// scanTable returns the chunks of a table from a cursor on: in no order and as fast as possible, or
// in the order of keys.
func scanTable(ctx context.Context, t *patterns.Table[stored], f query.Filter, from state, o moveFlags, ordered bool) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		var c chunk
		bytes, total := 0, from.Rows
		for page, err := range pages(ctx, t, f, from.Cursor, o, ordered) {
			if err != nil {
				yield(c, err)
				return
			}
			for i := range page.Items {
				r := rowOf(&page.Items[i])
				bytes += r.size()
				c.rows = append(c.rows, r)
			}
			if len(c.rows) < o.chunk && bytes < maxChunkBytes && page.Cursor != "" {
				continue
			}
			total += len(c.rows)
			c.done = int64(total)
			c.last = page.Cursor == ""
			c.position = func(s *state) { s.Cursor = page.Cursor }
			if !yield(c, nil) {
				return
			}
			c, bytes = chunk{}, 0
		}
	}
}

// pages are those of a scan or, in order, of one query after the other.
func pages(ctx context.Context, t *patterns.Table[stored], f query.Filter, cursor string, o moveFlags, ordered bool) iter.Seq2[patterns.ScanPage[stored], error] {
	size := min(o.chunk, 1000)
	if !ordered {
		return t.Scan(ctx, f, cursor, &patterns.ScanOptions{PageSize: size, Parallel: o.parallel})
	}
	return func(yield func(patterns.ScanPage[stored], error) bool) {
		for {
			page, err := t.Page(ctx, f, cursor, &patterns.QueryOptions{PageSize: size, Parallel: o.parallel, Allow: query.TableScan, Ordered: true})
			cursor = page.Cursor
			if !yield(patterns.ScanPage[stored]{Items: page.Items, Cursor: cursor}, err) || err != nil || cursor == "" {
				return
			}
		}
	}
}
