package patterns

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/query"
)

// SweepOptions are the options of [Store.Sweep]. nil and the zero value mean the
// defaults.
type SweepOptions struct {
	// Partitions restricts the sweep to outbox rows of primaries with these
	// partition keys. nil means all, and looks for abandoned reservations too.
	Partitions []string

	// OlderThan leaves younger rows to their own operations and wake-ups. Zero, and
	// anything less than the store's Grace, means twice the Grace. Finished records
	// must be older than the store's Expiry as well.
	OlderThan time.Duration

	// DryRun counts what a sweep would do, and does nothing.
	DryRun bool

	// Progress, if set, is told the counts so far after each row. Calls do not
	// overlap.
	Progress func(SweepReport)
}

// SweepReport says what a sweep found and did; after a dry run, what it would do.
type SweepReport struct {
	Young    int // rows left to their operations and wake-ups, or gone by now
	Drained  int // operations whose remote rows were made right
	Released int // abandoned reservations
	Removed  int // records of finished operations

	Failures []SweepFailure
}

// SweepFailure is a row that could not be looked after.
type SweepFailure struct {
	Key keys.Key
	Err error
}

// sweepRow is what a sweep reads of an outbox row or of a copy.
type sweepRow struct {
	Format  int32  `table:"azp_outbox,reserved"`
	State   string `table:"azp_state,reserved"`
	OwnerPK string `table:"azp_pk,reserved"`
	OwnerRK string `table:"azp_rk,reserved"`
	View    string `table:"azp_view,reserved"`
	Op      string `table:"azp_op,reserved"`
}

// Sweep looks after operations whose wake-up was lost or has expired, as a worker
// would: it finds their outbox rows, and rows that were reserved and never released.
// Run it from time to time, or after the queue was lost; it may run beside writers,
// workers and other sweeps.
//
// It reads all rows of the table, and of the tables of its copies, unless
// [SweepOptions.Partitions] restricts it. The error is that of reading; what failed
// for single rows is in the report.
func (s *Store[T]) Sweep(ctx context.Context, opts *SweepOptions) (SweepReport, error) {
	sw := &sweep[T]{store: s}
	if opts != nil {
		sw.SweepOptions = *opts
	}
	if sw.OlderThan < s.opts.Grace {
		sw.OlderThan = 2 * s.opts.Grace
	}
	sw.group.SetLimit(s.opts.Parallel)
	err := sw.scan(ctx, s.table.wire, sw.outboxFilter(), func(row Item[sweepRow]) {
		if row.Value.Format != 0 {
			sw.outbox(ctx, row)
		} else {
			sw.reservation(ctx, s.own, row)
		}
	})
	if sw.Partitions == nil {
		err = errors.Join(err, sw.targets(ctx))
	}
	_ = sw.group.Wait() // failures are in the report
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return sw.report, err
}

type sweep[T any] struct {
	SweepOptions
	store *Store[T]
	group errgroup.Group

	mu     sync.Mutex // guards report, and calls of Progress
	report SweepReport
}

var reservedFilter = query.Prop(propOp).Gt("")

func (sw *sweep[T]) outboxFilter() query.Filter {
	f := query.RowKey.Prefix(outboxPrefix)
	if sw.Partitions == nil {
		return query.Or(f, reservedFilter)
	}
	some := make([]any, len(sw.Partitions))
	for i, p := range sw.Partitions {
		some[i] = p
	}
	return query.And(query.PartitionKey.In(some...), f)
}

// scan gives every row that f matches.
func (sw *sweep[T]) scan(ctx context.Context, c *wire.Client, f query.Filter, yield func(Item[sweepRow])) error {
	codec, err := edm.CodecFor(reflect.TypeFor[sweepRow]())
	if err != nil {
		return err
	}
	r := &rows[sweepRow]{wire: c, codec: codec, schema: schemaOf(codec)}
	for name := range r.schema {
		r.only = append(r.only, name)
	}
	for row, err := range r.query(ctx, f, &QueryOptions{Allow: query.TableScan}) {
		if err != nil {
			return err
		}
		yield(row)
	}
	return nil
}

// targets scans the tables of copies for reservations.
func (sw *sweep[T]) targets(ctx context.Context) error {
	seen := map[string]bool{}
	for _, l := range sw.store.views.lenses {
		t, ok := l.target.(*tableTarget)
		if !ok || l.shape.Kind != Copies || seen[t.id] {
			continue
		}
		seen[t.id] = true
		if err := sw.scan(ctx, t.wire, reservedFilter, func(row Item[sweepRow]) { sw.reservation(ctx, t, row) }); err != nil {
			return err
		}
	}
	return nil
}

// outbox looks after the operation of an outbox row.
func (sw *sweep[T]) outbox(ctx context.Context, row Item[sweepRow]) {
	old := age(row.Timestamp)
	finished := row.Value.State != statePending
	if old < sw.OlderThan || finished && old < sw.store.opts.Expiry {
		sw.note(row.Key, nil, func(r *SweepReport) { r.Young++ })
		return
	}
	gone := false
	sw.do(row.Key, func() error {
		w := Wakeup{Partition: row.Key.Partition, ID: row.Key.Row[len(outboxPrefix):]}
		now, ok, err := sw.store.peekOutbox(ctx, w.Partition, w.ID)
		if gone = !ok; err != nil || gone {
			return err // no fence in its place: nobody would take that away
		}
		_, err = sw.store.attend(ctx, w, now)
		return err
	}, func(r *SweepReport) {
		switch {
		case gone:
			r.Young++
		case finished:
			r.Removed++
		default:
			r.Drained++
		}
	})
}

// reservation releases a row that an operation held and did not drain.
func (sw *sweep[T]) reservation(ctx context.Context, t *tableTarget, row Item[sweepRow]) {
	v := row.Value
	l, err := sw.store.lens(v.View)
	if err != nil || l.targetID() != t.id {
		return // another store's
	}
	if age(row.Timestamp) < sw.OlderThan {
		sw.note(row.Key, nil, func(r *SweepReport) { r.Young++ })
		return
	}
	primary := keys.Key{Partition: v.OwnerPK, Row: v.OwnerRK}
	sw.do(row.Key, func() error {
		if err := sw.store.bar(ctx, primary.Partition, v.Op); err != nil {
			return err
		}
		return sw.store.drain(ctx, &drain[T]{
			primary: primary, op: v.Op, places: []Place{{View: v.View, Partition: row.Key.Partition, Row: row.Key.Row}},
		})
	}, func(r *SweepReport) { r.Released++ })
}

// do runs work beside the scan, and notes its outcome.
func (sw *sweep[T]) do(key keys.Key, work func() error, count func(*SweepReport)) {
	if sw.DryRun {
		sw.note(key, nil, count)
		return
	}
	sw.group.Go(func() error {
		sw.note(key, work(), count)
		return nil
	})
}

func (sw *sweep[T]) note(key keys.Key, err error, count func(*SweepReport)) {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	if err != nil {
		sw.report.Failures = append(sw.report.Failures, SweepFailure{key, err})
	} else {
		count(&sw.report)
	}
	if sw.Progress != nil {
		sw.Progress(sw.report)
	}
}
