package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// dryRun is added to the summary of a dry run.
const dryRun = "dry run: nothing was changed"

func noteOf(dry bool) string {
	if dry {
		return dryRun
	}
	return ""
}

// viewFlags returns what verify and repair have in common.
func (c *cli) viewFlags() (from *accountFlags, options func() *reindex.Options) {
	from = c.account("", "")
	var o reindex.Options
	views := c.flags.String("views", "", "the `names` of the views, separated by commas (default all)")
	c.flags.IntVar(&o.Parallel, "parallel", 8, "the largest `number` of concurrent requests")
	c.flags.IntVar(&o.RequestsPerSecond, "rate", 0, "the largest `number` of requests per second on average (default no limit)")
	c.flags.DurationVar(&o.Grace, "grace", 0, "leave entities alone that were changed less than this `time` ago")
	return from, func() *reindex.Options {
		if *views != "" {
			o.Views = strings.Split(*views, ",")
		}
		p := c.progress("rows", 0)
		o.Progress = func(r reindex.Report) {
			p.update(int64(r.Rows), 0)
			p.end()
		}
		return &o
	}
}

func verifyCommand(c *cli) action {
	from, options := c.viewFlags()
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(ctx, from, args[0])
		if err != nil {
			return err
		}
		o := options()
		var report reindex.Report
		progress := o.Progress
		o.Progress = func(r reindex.Report) { report = r; progress(r) }
		found := 0
		for x, err := range s.verify(ctx, o) {
			if err != nil {
				return err
			}
			found++
			if err := c.print(x, fmt.Sprintf("%-9s %s: row %s of %s", x.Kind, x.View, keyText(x.Row), keyText(x.Primary))); err != nil {
				return err
			}
		}
		for _, name := range report.Unverified {
			fmt.Fprintf(c.err, "view %s cannot be verified\n", name)
		}
		return c.summary(found > 0, "", figure{found, "findings"}, figure{report.Rows, "rows"}, figure{report.Requests.Total(), "requests"})
	}
}

func repairCommand(c *cli) action {
	from, options := c.viewFlags()
	dry := c.flags.Bool("dry-run", false, "report what would be done, and change nothing")
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(ctx, from, args[0])
		if err != nil {
			return err
		}
		o := options()
		o.DryRun = *dry
		r, err := s.repair(ctx, o)
		for _, x := range r.Failures {
			fmt.Fprintf(c.err, "entity %s: %s\n", keyText(x.Primary), x.Text)
		}
		return errors.Join(err, c.summary(r.Failed > 0, noteOf(*dry),
			figure{r.Missing, "missing"}, figure{r.Wrong, "wrong"}, figure{r.Orphan, "orphans"}, figure{r.Duplicate, "duplicates"},
			figure{r.Repaired, "repaired"}, figure{r.Failed, "failed"}, figure{r.Undecided, "undecided"},
			figure{r.Rows, "rows"}, figure{r.Requests.Total(), "requests"}))
	}
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
		return errors.Join(err, c.summary(len(r.Failures) > 0, noteOf(o.DryRun), figure{r.Drained, "operations completed"},
			figure{r.Released, "reservations released"}, figure{r.Removed, "records removed"}, figure{r.Young, "rows too young"},
			figure{len(r.Failures), "failed"}))
	}
}
