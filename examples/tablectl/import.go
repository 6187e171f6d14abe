package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"os"
	"slices"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// target is the table that import and copy write to.
type target struct {
	*mover
	mode   string
	create bool
	table  *patterns.Table[stored]
}

func (t *target) register(c *cli) {
	c.flags.StringVar(&t.mode, "mode", "replace", "what to do with rows that exist: replace, merge, or insert, which refuses them if their content differs")
	c.flags.BoolVar(&t.create, "create", false, "create the table if it does not exist")
	c.flags.StringVar(&t.aside, "aside", "", "the `file` for rows that are refused (default: the name of the first argument and .refused)")
}

// check returns an error for a mode that does not exist.
func (t *target) check() error {
	if !slices.Contains([]string{"replace", "merge", "insert"}, t.mode) {
		return usagef("-mode is replace, merge or insert")
	}
	return nil
}

// open opens the table. A dry run uses an account in this process, which checks as the service does.
func (t *target) open(ctx context.Context, a *account, name string) (err error) {
	client := a.tables.NewClient(name)
	if t.dryRun {
		client = storagetest.Start(nil).TablesWith(t.tableOptions(nil)).NewClient(name)
	}
	if t.table, err = openTable(client); err == nil && (t.create || t.dryRun) {
		err = t.table.Create(ctx)
	}
	return err
}

func importCommand(c *cli) action {
	var to accountFlags
	t := &target{mover: &mover{cli: c}}
	to.register(c, "", "")
	t.mover.register(c, "FILE.state")
	t.register(c)
	return func(ctx context.Context, args []string) error {
		path, name, err := twoArguments(args)
		if err == nil {
			err = t.check()
		}
		if err != nil {
			return err
		}
		t.filter.allowScan = true // a file is read as a whole anyway
		f, err := t.filter.filter()
		if err != nil {
			return err
		}
		if path == standard && t.state != "" {
			return usagef("the standard input has no state")
		}
		t.aside = cmp.Or(t.aside, map[bool]string{true: "import", false: path}[path == standard]+".refused")
		if path != standard {
			t.state = cmp.Or(t.state, path+".state")
		}
		a, err := c.open(ctx, to)
		if err != nil {
			return err
		}
		if err := t.begin([]string{t.aside}, "import", path, a.name, name, t.mode); err != nil {
			return err
		}
		in, size, err := c.input(path, t.job.Offset)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := t.open(ctx, a, name); err != nil {
			return err
		}
		return t.run(ctx, "bytes", size, readChunks(in, f, t.job, t.chunk), t.write)
	}
}

func copyCommand(c *cli) action {
	var from, to accountFlags
	t := &target{mover: &mover{cli: c}}
	from.register(c, "", "")
	to.register(c, "to-", " that is written, if it is another one")
	t.mover.register(c, "none")
	t.register(c)
	return func(ctx context.Context, args []string) error {
		source, name, err := twoArguments(args)
		if err == nil {
			err = t.check()
		}
		if err != nil {
			return err
		}
		f, err := t.filter.filter()
		if err != nil {
			return err
		}
		t.aside = cmp.Or(t.aside, source+".refused")
		a, b, err := c.openTwo(ctx, from, to)
		if err != nil {
			return err
		}
		if a == b && source == name {
			return usagef("a table cannot be copied to itself")
		}
		table, err := openTable(a.tables.NewClient(source))
		if err != nil {
			return err
		}
		if err := t.begin([]string{t.aside}, "copy", a.name, source, b.name, name, t.mode); err != nil {
			return err
		}
		if err := t.open(ctx, b, name); err != nil {
			return err
		}
		return t.run(ctx, "rows", t.total, scanTable(ctx, table, f, t.job, t.moveFlags, false), t.write)
	}
}

// write stores a chunk. Rows that the service would refuse are refused; any other failure ends the
// command, which can continue later.
func (t *target) write(ctx context.Context, c *chunk) error {
	report, err := t.table.Bulk(ctx, t.operations(c.rows), &patterns.BulkOptions{Parallel: t.parallel})
	if err != nil && len(report.Failures) == 0 {
		return err
	}
	slices.SortFunc(report.Failures, func(a, b patterns.BulkFailure[patterns.Op[stored]]) int { return a.Index - b.Index })
	for _, f := range report.Failures {
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
	if _, ok := errors.AsType[*patterns.PropertyError](err); ok {
		return true
	}
	for _, target := range []error{patterns.ErrExists, patterns.ErrTooLarge, patterns.ErrBadKey} {
		if errors.Is(err, target) {
			return true
		}
	}
	e, ok := errors.AsType[*patterns.Error](err)
	return ok && e.Status == http.StatusBadRequest
}

// isStored reports whether the table has this row, with the same content. A command that continues
// may have inserted it before it was interrupted.
func (t *target) isStored(ctx context.Context, r *row) (bool, error) {
	item, err := t.table.Get(ctx, r.key)
	if errors.Is(err, patterns.ErrNotFound) {
		return false, nil
	}
	return err == nil && len(changes(item.Value.Properties, r.properties)) == 0, err
}

// input opens a file at an offset, and returns its size, 0 if that is unknown.
func (c *cli) input(path string, offset int64) (in io.ReadCloser, size int64, err error) {
	if path == standard {
		return io.NopCloser(c.in), 0, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, usagef("%w", err)
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
