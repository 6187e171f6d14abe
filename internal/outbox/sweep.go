package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/reencrypt"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Sweep completes operations whose message was lost, and releases reservations that
// their operations left behind. A step is a page of rows.
func (s *Store) Sweep(ctx context.Context, opts *types.SweepOptions) (types.SweepReport, error) {
	ctx, run, err := sweep.Begin(ctx, "store", opts, 2*s.Grace)
	sw := &sweeper{Run: run, store: s, tables: []*view.RemoteTable{s.own}}
	if sw.OlderThan < s.Grace {
		sw.OlderThan = 2 * s.Grace
	}
	if sw.Partitions == nil {
		sw.tables = s.tables()
	}
	if err == nil {
		err = run.Tables(ctx, len(sw.tables), s.address, func(ctx context.Context) error {
			_, err := s.Own(ctx, !sw.DryRun)
			return err
		}, sw.page)
	}
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return sw.Report(), err
}

type sweeper struct {
	*sweep.Run
	store  *Store
	tables []*view.RemoteTable // to read: that of the primaries, and those of copies
}

// tables returns the table of the primaries, and those of copies, which may have reservations, and of lookup rows.
func (s *Store) tables() []*view.RemoteTable {
	all := []*view.RemoteTable{s.own}
	for _, v := range s.Views.Views {
		if t, ok := v.Shape.Target.(*view.RemoteTable); ok && (v.Shape.Kind == types.Copies || v.Shape.Kind == types.Lookups && v.Expiring == nil) && indexOfTable(all, t) < 0 {
			all = append(all, t)
		}
	}
	return all
}

// address is that of the primaries' table, "" if it is not known yet.
func (s *Store) address() string {
	a, _ := s.Table.Client.Address()
	return a.Base
}

// sweptProperties are what a sweep reads of an outbox row or of a copy.
var sweptProperties = []string{propFormat, view.PropState, view.PropOwnerPK, view.PropOwnerRK, view.PropView, view.PropOp}

// page processes the rows of a page, and returns the cursor of the next one.
func (sw *sweeper) page(ctx context.Context, n int, cursor string) (next string, err error) {
	t := sw.tables[n]
	opts := &types.QueryOptions{Select: sweptProperties, Allow: query.TableScan, PageSize: sw.PageSize()}
	rows, next, err := fetch.PropertiesPage(ctx, t.Client, sw.filter(t), opts, cursor)
	if err != nil {
		return cursor, err
	}
	// First the reservations, as long as the outbox rows of their operations show that these are pending.
	for _, records := range []bool{false, true} {
		_ = calls.Each(ctx, len(rows), sw.store.Parallel, func(ctx context.Context, i int) error {
			format, _ := rows[i].Properties[propFormat].(int32)
			switch record := t == sw.store.own && format != 0; {
			case record && records:
				sw.record(ctx, rows[i])
			case !record && !records:
				sw.reservation(ctx, t, rows[i])
			}
			return nil // failures are in the report
		})
	}
	if sw.Partitions == nil {
		sw.lookups(ctx, t, rows)
	}
	return next, ctx.Err()
}

// filter matches the rows to process: outbox rows and, in all partitions, rows that are reserved.
func (sw *sweeper) filter(t *view.RemoteTable) query.Filter {
	records, reserved := query.RowKey.Prefix(outboxPrefix), query.Prop(view.PropOp).Gt("")
	names := sw.store.lookupViews(t)
	// Rows of a journal name their operations for another reason. They need not be sent, if the filter, which then has four
	// comparisons more than names, stays within the limit.
	if v := sw.store.Views.Journal(); v != nil && t == sw.store.own && len(names)+4 <= query.MaxComparisons {
		reserved = query.And(reserved, query.Prop(view.PropView).Ne(v.Name))
	}
	if len(names) > 0 {
		reserved = query.Or(reserved, query.Prop(view.PropView).In(names...))
	}
	switch {
	case t != sw.store.own:
		return reserved
	case sw.Partitions == nil:
		return query.Or(records, reserved)
	}
	return query.And(sw.InPartitions(), records)
}

// record processes the operation of an outbox row.
func (sw *sweeper) record(ctx context.Context, row fetch.Entry) {
	old := sw.store.Table.Client.Age(row.Timestamp)
	completed := row.Text(view.PropState) != statePending
	if old < sw.OlderThan || completed && old < sw.store.Expiry {
		if row.Text(view.PropState) != stateFence { // the sweep itself may have inserted it, and a worker removes it
			sw.Found(row.Key, nil, func(r *types.SweepReport) { r.Skipped++ })
		}
		return
	}
	gone := false
	sw.do(row.Key, func() error {
		began := time.Now()
		m := types.OutboxMessage{Partition: row.Key.Partition, ID: row.Key.Row[len(outboxPrefix):]}
		r, ok, err := sw.store.readRecord(ctx, m.Partition, m.ID)
		if gone = !ok; err != nil || gone {
			return err // no fence is inserted, because nothing would remove it
		}
		_, err = sw.store.processRecords(ctx, []knownOperation{{m, r}}, began)
		return err
	}, func(r *types.SweepReport) {
		if gone {
			r.Skipped++
			return
		}
		if r.Done++; !completed {
			r.Drained++
		}
	})
}

// reservation releases a row that an operation reserved, unless the operation has an outbox row by
// which it is completed.
func (sw *sweeper) reservation(ctx context.Context, t *view.RemoteTable, row fetch.Entry) {
	v, err := sw.store.Views.View(row.Text(view.PropView))
	if err != nil || v.TargetID() != t.ID() || v.Shape.Kind != types.Copies || strings.HasPrefix(row.Key.Row, view.ReservedRow) {
		return // of another store, or not reserved
	}
	if t.Client.Age(row.Timestamp) < sw.OlderThan {
		sw.Found(row.Key, nil, func(r *types.SweepReport) { r.Skipped++ })
		return
	}
	primary := keys.Key{Partition: row.Text(view.PropOwnerPK), Row: row.Text(view.PropOwnerRK)}
	op := row.Text(view.PropOp)
	r, _, err := sw.store.readRecord(ctx, primary.Partition, op)
	if err == nil && r.State == statePending {
		return
	}
	refs := []types.RowRef{{View: v.Name, Partition: row.Key.Partition, Row: row.Key.Row}}
	if err != nil {
		sw.Found(row.Key, err, nil)
		return
	}
	sw.do(row.Key, func() error {
		began := time.Now()
		if err := sw.store.fence(ctx, types.OutboxMessage{Partition: primary.Partition, ID: op, Reserved: refs, Row: primary.Row}); err != nil {
			return err
		}
		_, err := sw.store.drain(ctx, &drain{primary: primary, op: op, began: began, refs: refs})
		return err
	}, func(r *types.SweepReport) { r.Done++; r.Released++ })
}

// do does work, unless it is a dry run, and counts its result.
func (sw *sweeper) do(key keys.Key, work func() error, add func(*types.SweepReport)) {
	var err error
	if !sw.DryRun {
		err = work()
	}
	sw.Found(key, err, add)
}

// Reencrypt brings the encrypted properties of primaries and copies to the current key.
func (s *Store) Reencrypt(ctx context.Context, opts *types.SweepOptions) (types.SweepReport, error) {
	var tables []*wire.Client
	for _, t := range s.tables() {
		tables = append(tables, t.Client)
	}
	return reencrypt.Sweep(ctx, opts, s.Table.Codec, tables, func(ctx context.Context) error {
		_, err := s.Own(ctx, false)
		return err
	})
}
