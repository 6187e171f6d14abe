package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func countCommand(c *cli) action {
	var from accountFlags
	var where filterFlags
	from.register(c, "", "")
	where.register(c.flags)
	parallel := c.flags.Int("parallel", 8, "the largest `number` of concurrent requests")
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("one argument is needed, the table, not %d", len(args))
		}
		f, err := where.filter()
		if err != nil {
			return err
		}
		a, err := c.open(ctx, from)
		if err != nil {
			return err
		}
		t, err := openTable(a.tables.NewClient(args[0]))
		if err != nil {
			return err
		}
		p := c.progress("rows", 0)
		var n struct {
			Rows     int `json:"rows"`
			Requests int `json:"requests"`
		}
		// Only the keys are read.
		for page, err := range t.Scan(ctx, f, "", &patterns.ScanOptions{Select: []string{}, Parallel: *parallel}) {
			if err != nil {
				p.end()
				return err
			}
			n.Rows, n.Requests = page.Progress.Rows, page.Progress.Requests
			p.update(n.Rows, int64(n.Rows), 0)
		}
		p.end()
		return c.print(n, fmt.Sprint(n.Rows))
	}
}

// explanation is a plan in JSON.
type explanation struct {
	Class    string              `json:"class"`
	Plain    string              `json:"plain"`
	Requests int                 `json:"requests"`
	Reads    []explainedRead     `json:"reads"`
	Warnings []map[string]string `json:"warnings"`
}

type explainedRead struct {
	Class  string `json:"class"`
	Filter string `json:"filter"`
}

func explainCommand(c *cli) action {
	return func(_ context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("one argument is needed, the filter, not %d", len(args))
		}
		f, err := query.Parse(args[0])
		if err != nil {
			return usagef("%w", err)
		}
		plan := query.Explain(f)
		e := explanation{Class: plan.Class.String(), Plain: plan.Plain.String(), Requests: plan.Requests}
		for _, r := range plan.Reads() {
			e.Reads = append(e.Reads, explainedRead{r.Class.String(), r.Filter.String()})
		}
		for _, w := range plan.Warnings {
			e.Warnings = append(e.Warnings, map[string]string{
				"code": string(w.Code), "property": w.Property, "problem": w.Problem, "remedy": w.Remedy, "solved": fmt.Sprint(w.Solved),
			})
		}
		return c.print(e, fmt.Sprintf("%+v", plan))
	}
}

func printJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
