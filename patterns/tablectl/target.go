package tablectl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// openTable opens the table that is written.
func (m *move) openTable(ctx context.Context, t *patterns.Table[stored]) error {
	m.table = t
	if m.create && !m.dryRun {
		return t.Create(ctx)
	}
	return nil
}

// store stores a chunk. Rows that the service would refuse are refused; any other failure ends the
// command, which can continue later. A dry run writes to an account in this process instead, which
// checks rows as the service does.
func (m *move) store(ctx context.Context, c *chunk) error {
	if m.dryRun { // each chunk has an account of its own, so that memory does not grow
		var opts aztables.ClientOptions
		patterns.Accelerate(&opts.ClientOptions)
		m.table = openTable(storagetest.Start(nil).TablesWith(&opts).NewClient("dryrun"))
		if err := m.table.Create(ctx); err != nil {
			return err
		}
	}
	rest := c.rows
	if m.mode == "insert" && !m.dryRun {
		var err error
		if rest, err = m.insert(ctx, c); err != nil {
			return err
		}
	}
	report, err := m.table.Bulk(ctx, operations(rest, m.mode), &patterns.BulkOptions{Parallel: m.parallel})
	if err != nil && len(report.Failures) == 0 {
		return err
	}
	for _, f := range report.Failures {
		switch {
		case errors.Is(f.Err, patterns.ErrTableNotFound):
			return fmt.Errorf("%w; -create creates the table", f.Err)
		case !isRefusal(f.Err):
			return f.Err
		case errors.Is(f.Err, patterns.ErrExists):
			item, err := m.table.Get(ctx, rest[f.Index].Key)
			if err == nil {
				m.existing(c, rest[f.Index], item)
				continue
			}
			if !errors.Is(err, patterns.ErrNotFound) {
				return err
			}
		}
		m.refuse(c, rest[f.Index], f.Err)
	}
	return nil
}

// refuse keeps a row aside.
func (m *move) refuse(c *chunk, r row, err error) {
	r.refused = err
	c.refused = append(c.refused, r)
	m.job.Rows--
}

// existing counts a row that cannot be inserted because the table has it: a command that continues may have inserted it before it
// was interrupted.
func (m *move) existing(c *chunk, r row, stored patterns.Item[stored]) {
	if sameContent(stored, r.Item) {
		m.job.Present++
	} else {
		m.refuse(c, r, patterns.ErrExists)
	}
}

func operations(rows []row, mode string) iter.Seq[patterns.Op[stored]] {
	return func(yield func(patterns.Op[stored]) bool) {
		for i := range rows {
			v := &rows[i].Value
			op := patterns.UpsertOp(v, patterns.Replace)
			switch mode {
			case "insert":
				op = patterns.InsertOp(v)
			case "merge":
				op = patterns.UpsertOp(v, patterns.Merge)
			}
			if !yield(op.At(rows[i].Key)) {
				return
			}
		}
	}
}

// isRefusal reports whether an operation failed because of its row, so that it would fail again.
func isRefusal(err error) bool {
	badProperty := errors.As(err, new(*patterns.PropertyError))
	var e *patterns.Error
	return badProperty || errors.As(err, &e) && e.Status == http.StatusBadRequest ||
		errors.Is(err, patterns.ErrExists) || errors.Is(err, patterns.ErrTooLarge) || errors.Is(err, patterns.ErrBadKey)
}
