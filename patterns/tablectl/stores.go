package tablectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

// Store is a Store of a service, for the commands verify, repair and sweep, or something else that belongs to one: see [ToSweep] and
// [JournalOf]. It is immutable, so it is safe for concurrent use.
type Store struct {
	name string
	open func(*Account) (opened, error)
}

// opened is what the commands do with a Store, whatever its type of entities. What it does not have is nil.
type opened struct {
	eventual.Sweeper
	verify  func(context.Context, string, *reindex.Options) iter.Seq2[reindex.Finding, error]
	repair  func(context.Context, string, *reindex.Options) (reindex.Report, error)
	changes func(ctx context.Context, key keys.Key, asOf time.Time, limit int) iter.Seq2[change, error]
}

// StoreOf returns the Store with this name on the command line. open declares it as the service does, and makes no request: a
// Store with other views than those of the service would repair rows that are right.
func StoreOf[T any](name string, open func(*Account) (*patterns.Store[T], error)) Store {
	return Store{name, func(a *Account) (opened, error) {
		s, err := open(a)
		return opened{
			Sweeper: s,
			verify: func(ctx context.Context, cursor string, o *reindex.Options) iter.Seq2[reindex.Finding, error] {
				return reindex.Verify(ctx, s, cursor, o)
			},
			repair: func(ctx context.Context, cursor string, o *reindex.Options) (reindex.Report, error) {
				return reindex.Repair(ctx, s, cursor, o)
			},
		}, err
	}}
}

// ToSweep returns what has a sweep and is not a Store, for the command sweep: entities that expire, large or wide entities, or
// claims. open declares it as the service does, and makes no request.
func ToSweep(name string, open func(*Account) (eventual.Sweeper, error)) Store {
	return Store{name, func(a *Account) (opened, error) {
		s, err := open(a)
		return opened{Sweeper: s}, err
	}}
}

// openStore opens a Store of the program, or that of -demo.
func (c *cli) openStore(name string) (opened, error) {
	all := slices.Clone(c.stores)
	if c.accounts[0].demo {
		all = append(all, StoreOf("people", newPeople))
	}
	var names []string
	for _, s := range all {
		if s.name == name {
			return s.open(c.from)
		}
		names = append(names, s.name)
	}
	if names == nil {
		return opened{}, usagef("this program knows no Store: the service calls tablectl.Main with its own, see the documentation of package tablectl")
	}
	return opened{}, usagef("no Store %q: this program knows %s", name, strings.Join(names, ", "))
}

// viewCommand is verify or repair.
func viewCommand(c *cli) action {
	var o reindex.Options
	views := c.flags.String("views", "", "the `names` of the views, separated by commas (default all)")
	c.flags.IntVar(&o.Parallel, "parallel", 8, "the largest `number` of concurrent requests")
	c.flags.IntVar(&o.RequestsPerSecond, "rate", 0, "the largest `number` of requests per second on average (default no limit)")
	c.flags.DurationVar(&o.Grace, "grace", 0, "leave entities alone that were changed less than this `time` ago")
	c.stateFlags("none", "")
	repair := c.flags.Name() == "repair"
	if repair {
		c.flags.BoolVar(&c.dryRun, "dry-run", false, "report what would be done, and change nothing")
	}
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(args[0])
		if err != nil {
			return err
		}
		if s.verify == nil {
			return usagef("%s has no views", args[0])
		}
		if *views != "" {
			o.Views = strings.Split(*views, ",")
		}
		if err := c.load(args[0], *views, fmt.Sprint(c.dryRun)); err != nil {
			return err
		}
		switch {
		case c.job.saved:
			fmt.Fprintf(c.err, "continues where %s ends\n", c.job.path)
		case c.job.path != "":
			fmt.Fprintf(c.err, "begins at the start of %s\n", args[0])
		}
		return c.reindex(ctx, s, &o, repair)
	}
}

// reindex verifies or repairs the views of a Store, from the state on.
func (c *cli) reindex(ctx context.Context, s opened, o *reindex.Options, repair bool) (err error) {
	var r reindex.Report
	p := c.progress("rows", 0)
	o.Report, o.DryRun = &r, c.dryRun
	o.Progress = func(now patterns.Progress) { p.update(int64(now.Found), 0) }
	if c.job.path != "" {
		o.Checkpoint = func(save func() (string, error)) (err error) {
			c.job.Cursor, err = save()
			return errors.Join(err, c.job.save())
		}
	}
	if repair {
		_, err = s.repair(ctx, c.job.Cursor, o)
	} else {
		for x, failed := range s.verify(ctx, c.job.Cursor, o) {
			if failed == nil {
				c.job.Found++
				failed = c.print(x, fmt.Sprintf("%-9s %s: row %s of %s", x.Kind, x.View, keyText(x.Row), keyText(x.Primary)))
			}
			if err = failed; err != nil {
				break
			}
		}
	}
	c.endProgress()
	for _, name := range r.Unverified {
		c.warn("view %s cannot be verified", name)
	}
	for _, x := range r.Failures {
		c.warn("entity %s: %s", keyText(x.Primary), x.Text)
	}
	ended := err
	if !repair && errors.As(err, new(*patterns.PropertyError)) { // an entity that cannot be read, after the last finding
		ended = nil
	}
	if err := c.end(ended); err != nil {
		return err
	}
	found, figures := c.job.Found, []figure{{c.job.Found, "findings"}}
	if repair {
		found, figures = r.Failed, []figure{{r.Missing, "missing"}, {r.Wrong, "wrong"}, {r.Orphan, "orphans"}, {r.Duplicate, "duplicates"},
			{r.Repaired, "repaired"}, {r.Failed, "failed"}, {r.Undecided, "undecided"}}
	}
	return cmp.Or(err, c.summary(found > 0, "", append(figures, figure{r.Rows, "rows"}, figure{r.Requests.Total(), "requests"})...))
}

func sweepCommand(c *cli) action {
	var o patterns.SweepOptions
	c.flags.DurationVar(&o.OlderThan, "older-than", 0, "leave younger rows to their own operations (default and minimum of a Store: twice its Grace)")
	c.flags.IntVar(&o.RequestsPerSecond, "rate", 0, "the largest `number` of requests per second on average (default no limit)")
	c.flags.BoolVar(&c.dryRun, "dry-run", false, "report what would be done, and change nothing")
	return func(ctx context.Context, args []string) error {
		s, err := c.openStore(args[0])
		if err != nil {
			return err
		}
		o.DryRun = c.dryRun
		r, err := s.Sweep(ctx, &o)
		for _, x := range r.Failures {
			c.warn("row %s: %v", keyText(x.Key), x.Err)
		}
		return cmp.Or(err, c.summary(len(r.Failures) > 0, "", figure{r.Drained, "operations completed"},
			figure{r.Released, "reservations released"}, figure{r.Done - r.Drained - r.Released, "removed"}, figure{r.Skipped, "rows too young"},
			figure{r.Failed, "failed"}))
	}
}
