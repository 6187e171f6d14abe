package patterns

import (
	"context"

	"github.com/azpatterns/azpatterns/patterns/types"
)

type (
	// Progress counts what a call that makes many requests has done so far. The documentation
	// of the call states what each count means.
	Progress = types.Progress

	// SweepOptions are the options of every method Sweep: of [Store], and of types of the
	// packages wideentity, largeentity and eventual. nil and the zero value select the defaults.
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
