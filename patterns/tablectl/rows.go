package tablectl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func getCommand(c *cli) action {
	return func(ctx context.Context, args []string) error {
		t := c.from.rows(args[0])
		item, err := t.Get(ctx, keys.Key{Partition: args[1], Row: args[2]})
		if err != nil {
			return inTable(args[0], err)
		}
		r, err := encoded(item)
		if err != nil {
			return err
		}
		return c.line(r.text)
	}
}

// line prints a row, which is JSON with and without -json.
func (c *cli) line(text []byte) error {
	_, err := fmt.Fprintln(c.out, printable(string(text)))
	return err
}

func putCommand(c *cli) action {
	m := &move{cli: c, chunk: 1, parallel: 1}
	m.modeFlag("replace")
	return func(ctx context.Context, args []string) error {
		if err := m.check(); err != nil {
			return err
		}
		text := []byte(args[1])
		if args[1] == standard {
			var err error
			if text, err = io.ReadAll(io.LimitReader(c.in, maxLine)); err != nil {
				return err
			}
		}
		item, err := patterns.DecodeJSON[stored](text)
		if err != nil {
			return usagef("the row: %w", err)
		}
		t := c.from.rows(args[0])
		for op := range operations([]*row{{Item: item}}, m.mode) {
			if _, err := t.Do(ctx, op); err != nil {
				return inTable(args[0], err)
			}
		}
		return c.summary(false, "", figure{1, "rows"})
	}
}

func rmCommand(c *cli) action {
	c.filterFlags()
	yes := c.flags.Bool("yes", false, "delete the rows that match -where; without it they are counted")
	return func(ctx context.Context, args []string) error {
		t := c.from.rows(args[0])
		switch {
		case (len(args) == 3) == (c.where.text != "") || len(args) == 2:
			return usagef("rm has either the two keys of a row or -where")
		case len(args) == 3:
			if err := t.Delete(ctx, keys.Key{Partition: args[1], Row: args[2]}, azcore.ETagAny); err != nil {
				return inTable(args[0], err)
			}
			return c.summary(false, "", figure{1, "rows"})
		}
		p := c.progress("rows", 0)
		done, err := t.DeleteWhere(ctx, c.filter, "", &patterns.DeleteOptions{
			QueryOptions: patterns.QueryOptions{Allow: query.TableScan}, DryRun: !*yes, Progress: func(n patterns.Progress) { p.update(int64(n.Done), 0) },
		})
		note := ""
		if !*yes {
			note = "nothing was deleted: add -yes"
		}
		if err != nil {
			return fmt.Errorf("after %s: %w", figure{done.Done, "rows"}, inTable(args[0], err))
		}
		return c.summary(false, note, figure{done.Done, "rows"}, figure{done.Requests, "requests"})
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
		if *asCSV && o.Select == nil {
			return usagef("-csv needs -select: survey prints the properties of a table")
		}
		t := c.from.rows(args[0])
		plan, err := t.Explain(c.filter, &o)
		if err != nil {
			return usagef("%w", err)
		}
		c.warn("%s", strings.TrimSuffix(fmt.Sprintf("%+v", plan), "\n"))
		columns := append([]string{query.PartitionKey.Name(), query.RowKey.Name()}, o.Select...)
		table := csv.NewWriter(c.out)
		if *asCSV {
			_ = table.Write(columns) // Flush returns the error
		}
		n := 0
		for item, err := range t.Query(ctx, c.filter, &o) {
			var r row
			if err == nil {
				r, err = encoded(item)
			}
			if err != nil {
				table.Flush()
				return inTable(args[0], err)
			}
			if n++; !*asCSV {
				err = c.line(r.text)
			} else {
				var texts []string
				texts, err = cells(&r, columns)
				err = cmp.Or(err, table.Write(texts))
			}
			if err != nil {
				return err
			}
		}
		if table.Flush(); table.Error() != nil {
			return table.Error()
		}
		c.warn("%s", figure{n, "rows"})
		return nil
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
