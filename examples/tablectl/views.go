package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// viewCommand returns an action on the Store that the argument names, with the options of package reindex.
func (c *cli) viewCommand(o *reindex.Options, do func(ctx context.Context, s store) error) action {
	from := c.account("", "")
	views := c.flags.String("views", "", "the `names` of the views, separated by commas (default all)")
	c.flags.IntVar(&o.Parallel, "parallel", 8, "the largest `number` of concurrent requests")
	c.flags.IntVar(&o.RequestsPerSecond, "rate", 0, "the largest `number` of requests per second on average (default no limit)")
	c.flags.DurationVar(&o.Grace, "grace", 0, "leave entities alone that were changed less than this `time` ago")
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(ctx, from, args[0])
		if err != nil {
			return err
		}
		if *views != "" {
			o.Views = strings.Split(*views, ",")
		}
		return do(ctx, s)
	}
}

func verifyCommand(c *cli) action {
	o := new(reindex.Options)
	return c.viewCommand(o, func(ctx context.Context, s store) error {
		var report reindex.Report
		p := c.progress("rows", 0)
		o.Progress = func(r reindex.Report) {
			report = r
			p.update(int64(r.Rows), 0)
		}
		found := 0
		for x, err := range s.verify(ctx, o) {
			p.end()
			if err != nil {
				return err
			}
			found++
			if err := c.print(x, fmt.Sprintf("%-9s %s: row %s of %s", x.Kind, x.View, keyText(x.Row), keyText(x.Primary))); err != nil {
				return err
			}
		}
		p.end()
		for _, name := range report.Unverified {
			fmt.Fprintf(c.err, "view %s cannot be verified\n", name)
		}
		return c.summary(found > 0, "", figure{found, "findings"}, figure{report.Rows, "rows"}, figure{report.Requests.Total(), "requests"})
	})
}

func repairCommand(c *cli) action {
	o := new(reindex.Options)
	c.flags.BoolVar(&o.DryRun, "dry-run", false, "report what would be done, and change nothing")
	return c.viewCommand(o, func(ctx context.Context, s store) error {
		p := c.progress("rows", 0)
		o.Progress = func(r reindex.Report) { p.update(int64(r.Rows), 0) }
		r, err := s.repair(ctx, o)
		p.end()
		for _, x := range r.Failures {
			fmt.Fprintf(c.err, "entity %s: %s\n", keyText(x.Primary), x.Text)
		}
		return cmp.Or(err, c.summary(r.Failed > 0, noteOf(o.DryRun),
			figure{r.Missing, "missing"}, figure{r.Wrong, "wrong"}, figure{r.Orphan, "orphans"}, figure{r.Duplicate, "duplicates"},
			figure{r.Repaired, "repaired"}, figure{r.Failed, "failed"}, figure{r.Undecided, "undecided"},
			figure{r.Rows, "rows"}, figure{r.Requests.Total(), "requests"}))
	})
}

func sweepCommand(c *cli) action {
	from := c.account("", "")
	var o patterns.SweepOptions
	c.flags.DurationVar(&o.OlderThan, "older-than", 0, "leave younger rows to their own operations (default and minimum: twice the Grace of the Store)")
	c.flags.BoolVar(&o.DryRun, "dry-run", false, "report what would be done, and change nothing")
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(ctx, from, args[0])
		if err != nil {
			return err
		}
		r, err := s.sweep(ctx, &o)
		for _, x := range r.Failures {
			fmt.Fprintf(c.err, "row %s: %v\n", keyText(x.Key), x.Err)
		}
		return cmp.Or(err, c.summary(len(r.Failures) > 0, noteOf(o.DryRun), figure{r.Drained, "operations completed"},
			figure{r.Released, "reservations released"}, figure{r.Removed, "records removed"}, figure{r.Young, "rows too young"},
			figure{len(r.Failures), "failed"}))
	}
}
