package main

import "github.com/azpatterns/azpatterns/query"

// where are the flags that select rows.
type where struct {
	text      string
	allowScan bool
}

func (c *cli) filterFlags() {
	c.flags.StringVar(&c.where.text, "where", "", "only the rows that match this `filter` of the Table service")
	c.flags.BoolVar(&c.where.allowScan, "allow-scan", false, "permit a -where for which the service reads the whole table")
}

// parse returns the filter, or an error if it is malformed or costs too much. Without -where the whole
// table is read, which needs no permission.
func (w where) parse() (query.Filter, error) {
	if w.text == "" {
		return query.Filter{}, nil
	}
	f, err := query.Parse(w.text)
	if err == nil && !w.allowScan {
		err = query.Explain(f).Check(query.PartitionRange)
	}
	if err != nil {
		return f, usagef("-where: %w", err)
	}
	return f, nil
}
