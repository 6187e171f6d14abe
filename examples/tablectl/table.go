package main

import (
	"context"
	"iter"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// filterFlags select rows.
type filterFlags struct {
	where     string
	allowScan bool
}

func (c *cli) filter() *filterFlags {
	f := new(filterFlags)
	c.flags.StringVar(&f.where, "where", "", "only the rows that match this `filter` of the Table service")
	c.flags.BoolVar(&f.allowScan, "allow-scan", false, "permit a -where for which the service reads the whole table")
	return f
}

// filter returns the filter, or an error if it is malformed or costs too much. Without -where the
// whole table is read, which needs no permission.
func (f *filterFlags) filter() (query.Filter, error) {
	if f.where == "" {
		return query.Filter{}, nil
	}
	filter, err := query.Parse(f.where)
	if err == nil && !f.allowScan {
		err = query.Explain(filter).Check(query.PartitionRange)
	}
	if err != nil {
		return filter, usagef("-where: %w", err)
	}
	return filter, nil
}

// scanTable returns the chunks of a table from the cursor of a state on, in no order. A chunk ends after
// as many pages as full ones would take, so its size is limited as that of a page is: 4 MiB.
func scanTable(ctx context.Context, t *patterns.Table[stored], f query.Filter, cursor string, o *moveFlags) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		size := min(o.chunk, 1000)
		var c chunk
		pages := 0
		for page, err := range t.Scan(ctx, f, cursor, &patterns.ScanOptions{PageSize: size, Parallel: o.parallel}) {
			if err != nil {
				yield(c, err)
				return
			}
			for _, item := range page.Items {
				c.rows = append(c.rows, row{item.Key, item.Value.Properties})
			}
			c.cursor, c.last = page.Cursor, page.Cursor == ""
			if pages++; pages*size < o.chunk && !c.last {
				continue
			}
			if !yield(c, nil) {
				return
			}
			c, pages = chunk{}, 0
		}
	}
}
