package patterns

import (
	"context"

	"github.com/azpatterns/azpatterns/patterns/types"
)

type (
	// SweepOptions are the options of [Store.Sweep]. nil and the zero value select the
	// defaults.
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
// It reads all rows of the table, and of the tables of its copies, unless
// [SweepOptions.Partitions] restricts it. Before that, once for each Store, it finds out whether the views in
// other tables are this Store's, as [Store.Create] does. The error is [ErrBadView] if they are
// not, and otherwise that of reading; failures of
// single rows are in the report.
func (s *Store[T]) Sweep(ctx context.Context, opts *SweepOptions) (SweepReport, error) {
	var o SweepOptions
	if opts != nil {
		o = *opts
	}
	ctx, span := s.engine.Begin(ctx, "sweep")
	defer span.End()
	r, err := s.engine.Sweep(ctx, o)
	span.Fail(err)
	return r, err
}
