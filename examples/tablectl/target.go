package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// target is the table that import and copy write to.
type target struct {
	*transfer
	mode   string
	create bool
	table  *patterns.Table[stored]
}

func (c *cli) target(defaultState string) *target {
	t := &target{transfer: c.transfer(defaultState)}
	c.flags.StringVar(&t.mode, "mode", "replace", "what to do with rows that exist: replace, merge, or insert, which refuses them if their content differs")
	c.flags.BoolVar(&t.create, "create", false, "create the table if it does not exist")
	c.flags.StringVar(&t.aside, "aside", "", "the `file` for rows that are refused (default the first argument and .refused)")
	return t
}

// check returns the filter, and an error if a flag is wrong.
func (t *target) check() (query.Filter, error) {
	if !slices.Contains([]string{"replace", "merge", "insert"}, t.mode) {
		return query.Filter{}, usagef("-mode is replace, merge or insert")
	}
	return t.where.filter()
}

// open opens the table. A dry run writes to an account in this process instead, which checks rows as the
// service does.
func (t *target) open(ctx context.Context, a *account, name string) (err error) {
	if t.table, err = openTable(a.tables.NewClient(name)); err == nil && t.create && !t.dryRun {
		err = t.table.Create(ctx)
	}
	return err
}

// write stores a chunk. Rows that the service would refuse are refused; any other failure ends the
// command, which can continue later.
func (t *target) write(ctx context.Context, c *chunk) (err error) {
	if t.dryRun { // each chunk has an account of its own, so that memory does not grow
		client := storagetest.Start(nil).TablesWith(patterns.Accelerate(nil)).NewClient("dryrun")
		if t.table, err = openTable(client); err == nil {
			err = t.table.Create(ctx)
		}
		if err != nil {
			return err
		}
	}
	report, err := t.table.Bulk(ctx, t.operations(c.rows), &patterns.BulkOptions{Parallel: t.parallel})
	if err != nil && len(report.Failures) == 0 {
		return err
	}
	for _, f := range report.Failures {
		if errors.Is(f.Err, patterns.ErrTableNotFound) {
			return fmt.Errorf("%w; -create creates the table", f.Err)
		}
		if !isRefusal(f.Err) {
			return f.Err
		}
		if errors.Is(f.Err, patterns.ErrExists) {
			same, err := t.isStored(ctx, &c.rows[f.Index])
			if err != nil {
				return err
			}
			if same {
				t.job.Present++
				continue
			}
		}
		c.refuse(f.Index, f.Err)
		t.job.Rows--
	}
	return nil
}

func (t *target) operations(rows []row) iter.Seq[patterns.Op[stored]] {
	return func(yield func(patterns.Op[stored]) bool) {
		for _, r := range rows {
			v := &stored{r.properties}
			op := patterns.UpsertOp(v, patterns.Replace)
			switch t.mode {
			case "insert":
				op = patterns.InsertOp(v)
			case "merge":
				op = patterns.UpsertOp(v, patterns.Merge)
			}
			if !yield(op.At(r.key)) {
				return
			}
		}
	}
}

// isRefusal reports whether an operation failed because of its row, so that it would fail again.
func isRefusal(err error) bool {
	_, badProperty := errors.AsType[*patterns.PropertyError](err)
	e, ofService := errors.AsType[*patterns.Error](err)
	return badProperty || ofService && e.Status == http.StatusBadRequest ||
		errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrTooLarge) || errors.Is(err, patterns.ErrBadKey)
}

// isStored reports whether the table has this row with the same content. A command that continues may
// have inserted it before it was interrupted.
func (t *target) isStored(ctx context.Context, r *row) (bool, error) {
	item, err := t.table.Get(ctx, r.key)
	if errors.Is(err, patterns.ErrNotFound) {
		return false, nil
	}
	stored := item.Value.Properties
	return err == nil && len(different(stored, r.properties))+len(different(r.properties, stored)) == 0, err
}
