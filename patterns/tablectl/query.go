package tablectl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/query"
)

// query returns the rows of a table that match a filter.
func (a *Account) query(ctx context.Context, table string, f query.Filter, o *patterns.QueryOptions) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for item, err := range a.rows(table).Query(ctx, f, o) {
			r, err2 := encoded(item)
			if !yield(r, inTable(table, cmp.Or(err, err2))) {
				return
			}
		}
	}
}

func queryCommand(c *cli) action {
	c.filterFlags()
	names := c.flags.String("select", "", "the `names` of the properties to read, separated by commas (default all)")
	asCSV := c.flags.Bool("csv", false, "print comma-separated values instead of JSON lines: the keys and the properties of -select")
	o := patterns.QueryOptions{Allow: query.TableScan}
	c.flags.IntVar(&o.Limit, "top", 0, "the largest `number` of rows (default all)")
	return func(ctx context.Context, args []string) error {
		if *names != "" {
			o.Select = strings.Split(*names, ",")
		}
		switch {
		case *asCSV && c.json:
			return usagef("-csv and -json exclude each other")
		case *asCSV && o.Select == nil:
			return usagef("-csv needs -select: survey prints the properties of a table")
		}
		plan, err := c.from.rows(args[0]).Explain(c.filter, &o)
		if err != nil {
			return usagef("%w", err)
		}
		c.warn("%s", strings.TrimSuffix(fmt.Sprintf("%+v", plan), "\n"))
		write := func(r *row) error { return c.line(r.text) }
		if *asCSV {
			columns := append([]string{query.PartitionKey.Name(), query.RowKey.Name()}, o.Select...)
			table := csv.NewWriter(c.out)
			write = func(r *row) error {
				texts, err := cells(r, columns)
				return cmp.Or(err, table.WriteAll([][]string{texts}))
			}
			if err := table.WriteAll([][]string{columns}); err != nil {
				return err
			}
		}
		n := 0
		for r, err := range c.from.query(ctx, args[0], c.filter, &o) {
			if err == nil {
				err = write(&r)
			}
			if err != nil {
				return err
			}
			n++
		}
		c.out = c.err // the standard output has rows only
		return c.summary(false, "", figure{n, "rows"})
	}
}

// cells returns the values of a row as texts, spelled as in its JSON. One that it lacks is empty.
func cells(r *row, columns []string) (texts []string, err error) {
	values := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(r.text))
	d.UseNumber()
	err = d.Decode(&values)
	for _, name := range columns {
		text := ""
		if v, ok := values[name]; ok {
			text = fmt.Sprint(v)
		}
		texts = append(texts, printable(text))
	}
	return texts, err
}

func countCommand(c *cli) action {
	c.filterFlags()
	parallel := c.flags.Int("parallel", 8, "the largest `number` of concurrent requests")
	return func(ctx context.Context, args []string) error {
		p := c.progress("rows", 0)
		var n patterns.Progress
		// Only the keys are read.
		for page, err := range c.from.rows(args[0]).Scan(ctx, c.filter, "", &patterns.QueryOptions{Select: []string{}, Parallel: *parallel}) {
			if err != nil {
				return inTable(args[0], err)
			}
			n = page.Progress
			p.update(int64(n.Found), 0)
		}
		return c.summary(false, "", figure{n.Found, "rows"}, figure{n.Requests, "requests"})
	}
}

func explainCommand(c *cli) action {
	return func(_ context.Context, args []string) error {
		f, err := query.Parse(args[0])
		if err != nil {
			return usagef("%w", err)
		}
		plan := query.Explain(f)
		var reads []map[string]string
		for _, r := range plan.Reads() {
			reads = append(reads, map[string]string{"class": r.Class.String(), "filter": r.Filter.String()})
		}
		return c.print(map[string]any{
			"class": plan.Class.String(), "plain": plan.Plain.String(), "requests": plan.Requests, "reads": reads, "warnings": plan.Warnings,
		}, fmt.Sprintf("%+v", plan))
	}
}

func surveyCommand(c *cli) action {
	var o reindex.SurveyOptions
	c.flags.IntVar(&o.Rows, "rows", 0, "the largest `number` of rows to read (default all)")
	c.flags.IntVar(&o.Parallel, "parallel", 8, "the largest `number` of concurrent requests")
	name := c.flags.String("package", "", "the `name` of the Go package (default tables)")
	return func(ctx context.Context, args []string) error {
		report, err := reindex.Survey(ctx, c.from.Table(args[0]), &o)
		if err != nil {
			return inTable(args[0], err)
		}
		if c.json {
			return c.print(report, "")
		}
		return report.WriteGo(c.out, *name)
	}
}
