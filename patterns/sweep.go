package patterns

import (
	"context"
	"time"

	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/keys"
)

// SweepOptions are the options of [Store.Sweep]. nil and the zero value select the
// defaults.
type SweepOptions struct {
	// Partitions restricts the sweep to outbox rows of primaries with these partition
	// keys. nil means all partitions, and abandoned reservations too.
	Partitions []string

	// OlderThan leaves younger rows to their own operations and messages. Zero, and
	// anything less than the store's Grace, means twice the Grace. Records of completed
	// operations must be older than the store's Expiry as well.
	OlderThan time.Duration

	// DryRun counts what a sweep would do, and changes nothing.
	DryRun bool

	// Progress, if set, is called with the counts so far after each row. Calls do not
	// overlap.
	Progress func(SweepReport)
}

// SweepReport is what a sweep found and did; after a dry run, what it would do.
type SweepReport struct {
	Young    int // rows left to their operations and messages, or deleted by now
	Drained  int // operations whose remote rows were brought up to date
	Released int // abandoned reservations
	Removed  int // records of completed operations

	Failures []SweepFailure
}

// SweepFailure is a row that could not be processed.
type SweepFailure struct {
	Key keys.Key
	Err error
}

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
	return sweep(ctx, s.engine, opts)
}

func sweep(ctx context.Context, engine *outbox.Store, opts *SweepOptions) (SweepReport, error) {
	var o SweepOptions
	if opts != nil {
		o = *opts
	}
	eo := outbox.SweepOptions{Partitions: o.Partitions, OlderThan: o.OlderThan, DryRun: o.DryRun}
	var failures []SweepFailure // grows with those of the engine
	public := func(r outbox.SweepReport) SweepReport {
		for _, f := range r.Failures[len(failures):] {
			failures = append(failures, SweepFailure(f))
		}
		return SweepReport{Young: r.Young, Drained: r.Drained, Released: r.Released, Removed: r.Removed, Failures: failures}
	}
	if o.Progress != nil {
		eo.Progress = func(r outbox.SweepReport) { o.Progress(public(r)) }
	}
	ctx, span := engine.Begin(ctx, "sweep")
	defer span.End()
	r, err := engine.Sweep(ctx, eo)
	span.Fail(err)
	return public(r), err
}
