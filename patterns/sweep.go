package patterns

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/reencrypt"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/types"
)

type (
	// Progress counts what a call that makes many requests has done so far. The documentation
	// of the call states what each count means.
	Progress = types.Progress

	// SweepOptions are the options of every method Sweep, of [Store] and of types of the
	// packages wideentity, largeentity and eventual, and of every method Reencrypt. nil and the zero value select the defaults.
	SweepOptions = types.SweepOptions

	// SweepReport is what a sweep found and did; after a dry run, what it would do.
	SweepReport = types.SweepReport

	// SweepFailure is a row that could not be processed.
	SweepFailure = types.SweepFailure
)

// Sweep completes operations whose message was lost, has expired, or was never put, because
// the process was killed while it reserved rows, as a worker would: it
// finds their outbox rows, and rows that were reserved and never released. Run it from
// time to time, or after the queue was lost. It may run concurrently with writers, workers
// and other sweeps.
//
// OlderThan leaves younger rows to their own operations and messages. Zero, and anything less than
// the store's Grace, means twice the Grace. Records of completed operations must be older than
// the store's Expiry as well. The report's Found are outbox rows and reserved rows, Done those
// of which nothing is left to do, Skipped those left to their operations, or deleted by now, and Failed
// those in Failures. Partitions are those of the primaries; with them, Sweep finds no abandoned reservations.
//
// Sweep also removes lookup rows of package secondaryindex that no entity names, if they are older than Expiry and OlderThan.
// For each page it reads the entities of those that are that old, those of a partition in as few requests as possible. The
// report counts those that it removes.
//
// It reads all rows of the table, and of the tables of its copies, unless
// Partitions restricts it. A step is a page of up to 1,000 rows, or 100 with a Deadline, and what
// its rows need. Before that, once for each Store, it finds out whether the views in
// other tables are this Store's, as [Store.Create] does. The error is [ErrBadView] if they are
// not, and otherwise that of reading; failures of
// single rows are in the report.
func (s *Store[T]) Sweep(ctx context.Context, opts *SweepOptions) (SweepReport, error) {
	ctx, span := s.engine.Begin(ctx, "sweep")
	defer span.End()
	r, err := s.engine.Sweep(ctx, opts)
	span.Fail(err)
	return r, err
}

// Reencrypt brings the encrypted properties of all rows to the current key, while programs read and write them. For a Table with
// views use [Store.Reencrypt], because copies have the properties too; for wide entities it is a method of their package. First make the
// new key the current one in all programs: see [Encryption].
//
// The report's Found are rows with an encrypted property of another key, Done those that have the current one now, Skipped those
// deleted meanwhile or younger than OlderThan, and Failed those in Failures: whose key is missing ([ErrNoKey]), whose value
// was moved ([ErrSealed]), which have no room for the id of the new key ([ErrTooLarge]), or whose write failed. The other properties of a row
// stay as they are, and of concurrent changes none is lost. It may run concurrently with other sweeps and, after any error, be continued.
//
// A key is no longer needed by the table if a sweep that began after the last write with it has come to its end, that is, to a
// report without a Cursor, and none of its reports has anything Skipped or Failed. A DryRun shows whether that is so: its Found is 0 if all
// rows have the current key. A request of a program that had the old key may arrive minutes after it has ended, so make the dry run later.
// Copies of rows elsewhere, such as backups, still need the key.
//
// It reads all rows of the table, only the encrypted properties, unless Partitions restricts it: one request for each page of up
// to 1,000 rows, or 100 with a Deadline, which is a step, and one for each row that it changes, up to 8 concurrently. After a conflict or a lost
// reply a row takes two more. The error is [ErrBadOption] if T has no encrypted field, and otherwise that of reading.
func (t *Table[T]) Reencrypt(ctx context.Context, opts *SweepOptions) (SweepReport, error) {
	ctx, span := t.txn.Client.Begin(ctx, "table.", "reencrypt")
	defer span.End()
	r, err := reencrypt.Sweep(ctx, opts, t.txn.Codec, []*wire.Client{t.txn.Client}, func(context.Context) error { return nil })
	span.Fail(err)
	return r, err
}

// Reencrypt is [Table.Reencrypt] of the Store's table and of the tables of its copies. Rows of copies count like all
// others, also for Partitions, which are those of the rows. Operations that are in progress and workers need no pause: they compare what the properties
// contain, and meet a change of a row as they do any other. Before the first row it finds out, once for each
// Store, whether the views in other tables are this Store's; if not, the error is [ErrBadView].
func (s *Store[T]) Reencrypt(ctx context.Context, opts *SweepOptions) (SweepReport, error) {
	ctx, span := s.engine.Begin(ctx, "reencrypt")
	defer span.End()
	r, err := s.engine.Reencrypt(ctx, opts)
	span.Fail(err)
	return r, err
}
