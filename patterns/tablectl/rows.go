package tablectl

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

func getCommand(c *cli) action {
	return func(ctx context.Context, args []string) error {
		item, err := c.from.rows(args[0]).Get(ctx, keys.Key{Partition: args[1], Row: args[2]})
		r, err2 := encoded(item)
		if err := cmp.Or(err, err2); err != nil {
			return inTable(args[0], err)
		}
		return c.line(r.text)
	}
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
		if _, err := c.from.rows(args[0]).Do(ctx, modes[m.mode](&item.Value).At(item.Key)); err != nil {
			return inTable(args[0], err)
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
		case (len(args) == 3) == (c.where != "") || len(args) == 2:
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
		if err != nil {
			return fmt.Errorf("after %s: %w", figure{done.Done, "rows"}, inTable(args[0], err))
		}
		note := ""
		if !*yes {
			note = "nothing was deleted: add -yes"
		}
		return c.summary(false, note, figure{done.Done, "rows"}, figure{done.Requests, "requests"})
	}
}
