// Package expire deletes the entities of a Store that have expired. The Store keeps, as lookup rows, one
// row for each entity that expires, see [view.Expiring]; its own methods treat an entity that has expired as
// absent.
//
// The row that an entity names is always in a bucket that ends when the entity expires, or earlier, because
//
//   - an earlier time takes a new id, with a row that is stored before the entity;
//   - a later time keeps the id, and the sweep moves the row only after its bucket has ended, to the bucket of
//     the entity that it has read. Under one id the time only grows, so that bucket is not too late for any
//     version with the id.
//
// A row that was stored less than [outbox.Config].Expiry ago is left alone, because the transaction that names it may
// still arrive. So the primary is read after the row is that old, by the Date of an earlier reply: a row that is not named then will never
// be. An entity is deleted under the ETag that was read, by the Store, with all its views, and its row
// afterwards: if the process dies between the two, the next sweep finds a row that no entity names.
//
// Rows may appear in old buckets, of entities that had expired when they were written. So no position is stored between
// sweeps: each reads from the first bucket to the present one. Several sweeps may run concurrently, because each of their writes
// is conditional, or has no effect on what an entity names.
package expire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// sweeper is a sweep of the rows of an expiring view.
type sweeper struct {
	*sweep.Run
	store *outbox.Store
	view  *view.View
	table *wire.Client // of the rows
}

// due is a row whose bucket has ended, and what becomes of it.
type due struct {
	outbox.LookupRow
	entity *txn.Record // that has expired, and is deleted before the row
	stays  bool
	err    error
}

// Sweep deletes the entities whose rows in the view are due. The options are those of [sweep.Run].
func Sweep(ctx context.Context, s *outbox.Store, name string, opts *types.SweepOptions) (types.SweepReport, error) {
	ctx, run, err := sweep.Begin(ctx, "expiry "+name, opts, 0)
	sw := &sweeper{Run: run, store: s}
	if err == nil && sw.Partitions != nil {
		err = azerr.Errorf("%w: SweepOptions.Partitions: a sweep of package expiry has none", azerr.ErrBadOption)
	}
	if err == nil {
		sw.view, err = s.Views.View(name)
	}
	if err == nil {
		table, _ := s.TableOf(sw.view)
		sw.table = table.Client
		err = run.Tables(ctx, 1, func() string { a, _ := sw.table.Address(); return a.Base }, sw.begin, sw.page)
	}
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return sw.Report(), err
}

// begin finds out the time of the service, which any reply shows.
func (sw *sweeper) begin(ctx context.Context) error {
	_, err := sw.store.Own(ctx, !sw.DryRun)
	if err == nil {
		err = txn.LearnTime(ctx, sw.table)
	}
	return err
}

// page processes a page of the rows whose buckets have ended. A cursor is the end of those that the sweep reads, and that of the page.
func (sw *sweeper) page(ctx context.Context, _ int, cursor string) (next string, err error) {
	end, at, began := strings.Cut(cursor, " ")
	if now, _ := sw.table.ServiceTime(); !began {
		end, _ = keys.Ticks(now.Add(-sw.OlderThan)) // "" if no reply shows the time: then no row is known to be old
	}
	rows, next, err := sw.store.LookupPage(ctx, sw.view, query.PartitionKey.Within(sw.view.Expiring.Ended(sw.view.Name, end)), at, &types.QueryOptions{
		Select: []string{view.PropOwnerPK, view.PropOwnerRK, view.PropView}, Allow: query.TableScan, PageSize: sw.PageSize(),
	})
	if err != nil {
		return cursor, err
	}
	var work []*due
	var old []outbox.LookupRow
	for _, row := range rows {
		if row.Old {
			old = append(old, row)
		} else {
			work = append(work, &due{LookupRow: row, stays: true})
		}
	}
	sw.store.LookupPrimaries(ctx, old, func(row outbox.LookupRow, primary *fetch.Entry, err error) {
		d := &due{LookupRow: row, err: err}
		if work = append(work, d); primary != nil {
			sw.decide(d, primary)
		}
	})
	if !sw.DryRun {
		sw.carryOut(ctx, work)
	}
	for _, d := range work {
		sw.Found(d.Row(), d.err, d.count)
	}
	if next != "" {
		next = end + " " + next
	}
	return next, ctx.Err()
}

// decide decides what becomes of a row that was stored long enough ago, and that its primary names.
func (sw *sweeper) decide(d *due, primary *fetch.Entry) {
	r, err := sw.store.PrimaryOf(primary)
	var implied []view.Lookup
	if err == nil && r != nil {
		implied, err = sw.store.Views.Lookups(r.Value, r.Key, primary.Text(view.PropLookups))
		implied = slices.DeleteFunc(implied, func(l view.Lookup) bool { return l.View != sw.view })
	}
	switch {
	case err != nil, r == nil: // nil if it is not an entity of this Store
		d.err, d.stays = err, true
	case len(implied) == 0: // a program that does not use the Store has removed the time
	case sw.store.Expired(r.Value, sw.OlderThan): // never in a Store for which the view is building or retired
		d.entity = r
	default: // it was postponed
		d.Later = &implied[0]
		d.stays = keys.Compare(d.Later.Key.Partition, d.Key.Partition) <= 0
	}
}

// carryOut deletes the entities, and then moves or removes the rows: those of a partition in as few transactions as possible.
func (sw *sweeper) carryOut(ctx context.Context, work []*due) {
	b := outbox.NewBulk(sw.store, sw.store.Parallel, func(types.Progress) {}, func(_ int, _ keys.Key, of any, err error) {
		d := of.(*due)
		d.stays = true
		if !errors.Is(err, azerr.ErrConflict) && !errors.Is(err, azerr.ErrNotFound) { // otherwise it was changed since it was read
			d.err = err
		}
	})
	for _, d := range work {
		if d.entity != nil {
			b.Add(ctx, outbox.Deletion(d.entity), d, nil)
		}
	}
	b.Flush(ctx)
	var left []*due
	var rows []outbox.LookupRow
	for _, d := range work {
		if !d.stays && d.err == nil {
			left, rows = append(left, d), append(rows, d.LookupRow)
		}
	}
	sw.store.RemoveLookups(ctx, rows, func(i int, err error) { left[i].err = err })
}

// count counts the row.
func (d *due) count(r *types.SweepReport) {
	if d.stays || d.Later != nil {
		r.Skipped++
		return
	}
	if r.Done++; d.entity == nil {
		r.Lookups++
	}
}
