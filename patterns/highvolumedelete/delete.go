package highvolumedelete

import (
	"context"
	"fmt"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// DeleteOptions are the options of [DeleteWhere]. nil and the zero value mean the
// defaults.
type DeleteOptions struct {
	// Allow is the dearest class of query that may look for the rows, as in
	// [patterns.QueryOptions]. Without it a scan of the whole table is refused with
	// [query.ErrScan]; the zero Filter, every row, is one.
	Allow query.Class

	// IfUnchanged deletes a row only in the version that was found: one that was
	// changed since stays, and counts as Changed. Zero deletes whatever version there
	// is.
	IfUnchanged bool

	// DryRun finds the rows and deletes none. Transactions are those that it would
	// have sent.
	DryRun bool

	// Cursor goes on where an earlier run with the same table and filter stopped.
	Cursor string

	// Parallel is in how many partitions rows may be deleted at once. Zero means 8.
	Parallel int

	// Progress, if set, is told the counts so far after each transaction. Calls do
	// not overlap.
	Progress func(DeleteProgress)
}

// DeleteProgress counts what a DeleteWhere has done so far.
type DeleteProgress struct {
	Found   int // rows that the filter matched
	Deleted int // rows deleted; in a dry run, rows that would have been
	Gone    int // rows that somebody else deleted meanwhile
	Changed int // rows that stayed because they were changed meanwhile

	Pages        int // pages read
	Transactions int // sent, repeated ones and single deletes included

	// Cursor is for [DeleteOptions] of a run that goes on behind all rows that are
	// done. "" stands for the beginning, and after a DeleteWhere without error for
	// the end. Rows that were done already and are found again cost their page only.
	Cursor string
}

// DeleteWhere deletes the rows of table that f matches: for tables that hold more
// than what is to go. Where the rows of whole periods go, [Tables.DropBefore] takes
// one request for each table instead.
//
// It reads keys only, a page of 1,000 at a time, and deletes by transactions of up
// to 100 rows of one partition. Those of different partitions run side by side, and
// alongside the reading. For n rows of a partition they are n/100, rounded up,
// however the pages fall. So all requests are the pages and, for each partition,
// those transactions: for 100,000 rows of 100 partitions, 1,100.
//
// It is not atomic. When it fails, by a refusal or the end of ctx, it stops and
// waits for what is under way; the report tells what was done, with a Cursor to go
// on from, and running it again from the beginning is right as well. Running it twice
// at once is safe: a row that another has deleted, which costs its transaction a second
// look and another try, counts as Gone.
//
// Rows inserted behind the reading stay. A [patterns.Store] has to delete its rows
// itself: its views would not learn of it.
func DeleteWhere[T any](ctx context.Context, table *patterns.Table[T], f query.Filter, opts *DeleteOptions) (DeleteProgress, error) {
	var o DeleteOptions
	if opts != nil {
		o = *opts
	}
	if table == nil {
		return DeleteProgress{}, fmt.Errorf("delete: table: %w", patterns.ErrNil)
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	d := &deletion[T]{table: table, filter: f, options: o}
	d.progress.Cursor, d.after = o.Cursor, o.Cursor
	err := d.run(ctx)
	if err != nil {
		err = fmt.Errorf("delete: %w", err)
	}
	return d.progress, err
}
