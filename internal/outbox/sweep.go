package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Sweep completes operations whose message was lost, and releases reservations that
// their operations left behind.
func (s *Store) Sweep(ctx context.Context, opts types.SweepOptions) (types.SweepReport, error) {
	sw := &sweep{SweepOptions: opts, store: s}
	if sw.OlderThan < s.Grace {
		sw.OlderThan = 2 * s.Grace
	}
	sw.group.SetLimit(s.Parallel)
	if _, err := s.Own(ctx, !opts.DryRun); err != nil {
		return sw.report, fmt.Errorf("sweep: %w", err)
	}
	err := sw.scan(ctx, s.Table.Client, sw.outboxFilter(), func(row fetch.Entry) {
		if format, _ := row.Properties[propFormat].(int32); format != 0 {
			sw.record(ctx, row)
		} else {
			sw.reservation(ctx, s.own, row)
		}
	})
	if sw.Partitions == nil {
		err = errors.Join(err, sw.otherTables(ctx))
	}
	_ = sw.group.Wait() // failures are in the report
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return sw.report, err
}

type sweep struct {
	types.SweepOptions
	store *Store
	group errgroup.Group

	mu     sync.Mutex // guards report, and serializes calls of Progress
	report types.SweepReport
}

var reservedFilter = query.Prop(view.PropOp).Gt("")

func (sw *sweep) outboxFilter() query.Filter {
	f := query.RowKey.Prefix(outboxPrefix)
	if sw.Partitions == nil {
		return query.Or(f, reservedFilter)
	}
	partitions := make([]any, len(sw.Partitions))
	for i, p := range sw.Partitions {
		partitions[i] = p
	}
	return query.And(query.PartitionKey.In(partitions...), f)
}

// sweptProperties are what a sweep reads of an outbox row or of a copy.
var sweptProperties = []string{propFormat, view.PropState, view.PropOwnerPK, view.PropOwnerRK, view.PropView, view.PropOp}

// scan calls yield with every row that f matches.
func (sw *sweep) scan(ctx context.Context, c *wire.Client, f query.Filter, yield func(fetch.Entry)) error {
	for row, err := range fetch.Properties(ctx, c, f, &fetch.Options{Select: sweptProperties, Allow: query.TableScan}) {
		if err != nil {
			return err
		}
		yield(row)
	}
	return nil
}

// otherTables scans the tables of copies for reservations.
func (sw *sweep) otherTables(ctx context.Context) error {
	seen := map[string]bool{}
	for _, v := range sw.store.Views.Views {
		t, ok := v.Shape.Target.(*view.Table)
		if !ok || v.Shape.Kind != view.Copies || seen[t.ID()] {
			continue
		}
		seen[t.ID()] = true
		if err := sw.scan(ctx, t.Client, reservedFilter, func(row fetch.Entry) { sw.reservation(ctx, t, row) }); err != nil {
			return err
		}
	}
	return nil
}

// record processes the operation of an outbox row.
func (sw *sweep) record(ctx context.Context, row fetch.Entry) {
	old := sw.store.Table.Client.Age(row.Timestamp)
	completed := row.Text(view.PropState) != statePending
	if old < sw.OlderThan || completed && old < sw.store.Expiry {
		sw.count(row.Key, nil, func(r *types.SweepReport) { r.Young++ })
		return
	}
	gone := false
	sw.do(row.Key, func() error {
		began := time.Now()
		m := Message{Partition: row.Key.Partition, ID: row.Key.Row[len(outboxPrefix):]}
		r, ok, err := sw.store.readRecord(ctx, m.Partition, m.ID)
		if gone = !ok; err != nil || gone {
			return err // no fence is inserted, because nothing would remove it
		}
		_, err = sw.store.processRecords(ctx, []found{{m, r}}, began)
		return err
	}, func(r *types.SweepReport) {
		switch {
		case gone:
			r.Young++
		case completed:
			r.Removed++
		default:
			r.Drained++
		}
	})
}

// reservation releases a row that an operation reserved and did not drain.
func (sw *sweep) reservation(ctx context.Context, t *view.Table, row fetch.Entry) {
	v, err := sw.store.Views.View(row.Text(view.PropView))
	if err != nil || v.TargetID() != t.ID() {
		return // of another store
	}
	if t.Client.Age(row.Timestamp) < sw.OlderThan {
		sw.count(row.Key, nil, func(r *types.SweepReport) { r.Young++ })
		return
	}
	primary := keys.Key{Partition: row.Text(view.PropOwnerPK), Row: row.Text(view.PropOwnerRK)}
	op := row.Text(view.PropOp)
	refs := []view.RowRef{{View: v.Name, Partition: row.Key.Partition, Row: row.Key.Row}}
	sw.do(row.Key, func() error {
		began := time.Now()
		if err := sw.store.fence(ctx, Message{Partition: primary.Partition, ID: op, Reserved: refs, Row: primary.Row}); err != nil {
			return err
		}
		_, err := sw.store.drain(ctx, &drain{primary: primary, op: op, began: began, refs: refs})
		return err
	}, func(r *types.SweepReport) { r.Released++ })
}

// do runs work concurrently with the scan, and counts its result.
func (sw *sweep) do(key keys.Key, work func() error, add func(*types.SweepReport)) {
	if sw.DryRun {
		sw.count(key, nil, add)
		return
	}
	sw.group.Go(func() error {
		sw.count(key, work(), add)
		return nil
	})
}

func (sw *sweep) count(key keys.Key, err error, add func(*types.SweepReport)) {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	if err != nil {
		sw.report.Failures = append(sw.report.Failures, types.SweepFailure{Key: key, Err: err})
	} else {
		add(&sw.report)
	}
	if sw.Progress != nil {
		sw.Progress(sw.report)
	}
}
