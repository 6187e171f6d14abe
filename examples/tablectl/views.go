package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// viewFlags are the flags of verify and repair.
type viewFlags struct {
	from  accountFlags
	views string
	state string
	opts  reindex.Options
}

func (f *viewFlags) register(c *cli) {
	f.from.register(c, "", "")
	c.flags.StringVar(&f.views, "views", "", "the `names` of the views, separated by commas (default: all)")
	c.flags.StringVar(&f.state, "state", "", "the `file` from which the command continues if it was interrupted (default: none)")
	c.flags.IntVar(&f.opts.Parallel, "parallel", 8, "the largest `number` of concurrent requests")
	c.flags.IntVar(&f.opts.RequestsPerSecond, "rate", 0, "the largest `number` of requests per second on average (default: no limit)")
	c.flags.DurationVar(&f.opts.Grace, "grace", 0, "leave entities alone that were changed less than this `time` ago")
}

// options loads the state, and saves it while the command runs.
func (f *viewFlags) options() (*reindex.Options, error) {
	o := f.opts
	if f.views != "" {
		o.Views = strings.Split(f.views, ",")
	}
	if f.state == "" {
		return &o, nil
	}
	var err error
	if o.Cursor, err = os.ReadFile(f.state); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	o.Checkpoint = func(save func() ([]byte, error)) error {
		data, err := save()
		if err != nil {
			return err
		}
		return replaceFile(f.state, data)
	}
	return &o, nil
}

// end removes the state.
func (f *viewFlags) end() error {
	if err := os.Remove(f.state); f.state != "" && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// finding is a finding in JSON.
type finding struct {
	Kind    reindex.Kind `json:"kind"`
	View    string       `json:"view"`
	Row     [2]string    `json:"row"`
	Primary [2]string    `json:"primary"`
}

func verifyCommand(c *cli) action {
	var f viewFlags
	f.register(c)
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(ctx, f.from, args)
		if err != nil {
			return err
		}
		o, err := f.options()
		if err != nil {
			return err
		}
		p := c.progress("rows", 0)
		var report reindex.Report
		o.Progress = func(r reindex.Report) {
			report = r
			p.update(r.Rows, int64(r.Rows), 0)
		}
		found := 0
		for x, err := range s.verify(ctx, o) {
			p.end()
			if err != nil {
				return err
			}
			found++
			j := finding{x.Kind, x.View, [2]string{x.Row.Partition, x.Row.Row}, [2]string{x.Primary.Partition, x.Primary.Row}}
			if err := c.print(j, fmt.Sprintf("%-9s %s: row %s of %s", x.Kind, x.View, keyText(x.Row), keyText(x.Primary))); err != nil {
				return err
			}
		}
		p.end()
		if !c.json {
			fmt.Fprintf(c.out, "%d findings in %d rows, %d requests\n", found, report.Rows, report.Requests.Total())
		}
		for _, name := range report.Unverified {
			fmt.Fprintf(c.err, "view %s cannot be verified\n", name)
		}
		if err := f.end(); err != nil {
			return err
		}
		if found > 0 {
			return errFound
		}
		return nil
	}
}

func repairCommand(c *cli) action {
	var f viewFlags
	f.register(c)
	c.flags.BoolVar(&f.opts.DryRun, "dry-run", false, "report what would be done, and change nothing")
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(ctx, f.from, args)
		if err != nil {
			return err
		}
		o, err := f.options()
		if err != nil {
			return err
		}
		p := c.progress("rows", 0)
		o.Progress = func(r reindex.Report) { p.update(r.Rows, int64(r.Rows), 0) }
		r, err := s.repair(ctx, o)
		p.end()
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%d missing, %d wrong, %d orphans, %d duplicates in %d rows: %d repaired, %d failed; %d requests",
			r.Missing, r.Wrong, r.Orphan, r.Duplicate, r.Rows, r.Repaired, r.Failed, r.Requests.Total())
		if o.DryRun {
			text += " (dry run: nothing was changed)"
		}
		for _, x := range r.Failures {
			fmt.Fprintf(c.err, "entity %s: %s\n", keyText(x.Primary), x.Text)
		}
		if err := errors.Join(c.print(r, text), f.end()); err != nil {
			return err
		}
		if r.Failed > 0 {
			return errFound
		}
		return nil
	}
}

func sweepCommand(c *cli) action {
	var from accountFlags
	from.register(c, "", "")
	age := c.flags.Duration("older-than", 0, "leave younger rows to their own operations (default and minimum: twice the Grace of the Store)")
	dry := c.flags.Bool("dry-run", false, "report what would be done, and change nothing")
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(ctx, from, args)
		if err != nil {
			return err
		}
		r, err := s.sweep(ctx, &patterns.SweepOptions{OlderThan: time.Duration(*age), DryRun: *dry})
		if err != nil {
			return err
		}
		result := struct {
			Drained  int `json:"drained"`
			Released int `json:"released"`
			Removed  int `json:"removed"`
			Young    int `json:"young"`
			Failed   int `json:"failed"`
		}{r.Drained, r.Released, r.Removed, r.Young, len(r.Failures)}
		for _, x := range r.Failures {
			fmt.Fprintf(c.err, "row %s: %v\n", keyText(x.Key), x.Err)
		}
		text := fmt.Sprintf("%d operations completed, %d reservations released, %d records removed, %d rows too young, %d failed",
			result.Drained, result.Released, result.Removed, result.Young, result.Failed)
		if *dry {
			text += " (dry run: nothing was changed)"
		}
		if err := c.print(result, text); err != nil {
			return err
		}
		if result.Failed > 0 {
			return errFound
		}
		return nil
	}
}
