package main

import "github.com/azpatterns/azpatterns/query"

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
