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
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
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

// maxStep is how many rows a step with a deadline processes at most.
const maxStep = 100

// sweeper is a sweep of the rows of an expiring view.
type sweeper struct {
	*sweep.Run
	store *outbox.Store
	view  *view.View
	table *txn.Table // of the rows

	mu   sync.Mutex // guards what follows: the work of a page
	gone []entity
	work []rowWork
}

// entity is an entity that has expired.
type entity struct {
	*txn.Record
	row outbox.LookupRow
}

// rowWork is what is to be done with a row.
type rowWork struct {
	row   outbox.LookupRow
	later *view.Lookup // the row that is stored first, nil for none
	count func(*types.SweepReport)
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
		sw.table = &txn.Table{Client: table.Client, Codec: edm.PropertiesCodec(), Zero: func() any { return new(edm.Properties) }}
		err = run.Tables(ctx, 1, func() string { a, _ := table.Client.Address(); return a.Base }, func(ctx context.Context) error {
			_, err := s.Own(ctx, !sw.DryRun)
			return err
		}, sw.page)
	}
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return sw.Report(), err
}

// page processes a page of rows whose buckets have ended. A cursor is the end of the range of buckets, and
// that of the page.
func (sw *sweeper) page(ctx context.Context, _ int, cursor string) (next string, err error) {
	rows, end, next, err := sw.read(ctx, cursor)
	if err != nil {
		return cursor, err
	}
	of := map[string][]outbox.LookupRow{} // by partition of the primaries
	for _, row := range rows {
		if !row.Old {
			sw.skip()
			continue
		}
		of[row.Primary.Partition] = append(of[row.Primary.Partition], row)
	}
	groups := slices.Collect(maps.Values(of))
	_ = calls.Each(ctx, len(groups), sw.store.Parallel, func(ctx context.Context, i int) error {
		primaries, _, err := sw.store.LookupPrimaries(ctx, groups[i])
		for k, row := range groups[i] {
			if err != nil {
				sw.fail(row, err)
			} else {
				sw.decide(row, primaries[k])
			}
		}
		return nil // failures are in the report
	})
	sw.delete(ctx)
	sw.change(ctx)
	if next != "" {
		next = end + " " + next
	}
	return next, ctx.Err()
}

// read reads the page at the cursor. end is the end of the range of partitions that the sweep reads.
func (sw *sweeper) read(ctx context.Context, cursor string) (rows []outbox.LookupRow, end, next string, err error) {
	end, cursor, began := strings.Cut(cursor, " ")
	opts := &types.QueryOptions{Select: []string{view.PropOwnerPK, view.PropOwnerRK, view.PropView}, Allow: query.TableScan}
	if sw.Deadline > 0 {
		opts.PageSize = maxStep
	}
	for {
		now, known := sw.table.Client.ServiceTime()
		if !known {
			now = time.Now()
		}
		r, err := sw.view.Expiring.Ended(sw.view.Name, now.Add(-sw.OlderThan))
		if err != nil {
			return nil, "", "", err
		}
		if began {
			r.To = r.From + end
		}
		end = strings.TrimPrefix(r.To, r.From)
		rows, next, err = sw.store.LookupPage(ctx, sw.view, query.PartitionKey.Within(r), cursor, opts)
		if err != nil || known || began { // otherwise the reply has shown the time
			return rows, end, next, err
		}
		if _, known = sw.table.Client.ServiceTime(); !known {
			return rows, end, next, nil
		}
	}
}

// decide decides what becomes of a row that is due and was stored long enough ago. primary is nil if no entity names it.
func (sw *sweeper) decide(row outbox.LookupRow, primary *fetch.Entry) {
	drop := rowWork{row: row, count: func(r *types.SweepReport) { r.Done++; r.Lookups++ }}
	if primary == nil {
		sw.add(nil, &drop)
		return
	}
	r, err := sw.store.PrimaryOf(primary)
	var implied []view.Lookup
	if err == nil && r != nil {
		implied, err = sw.store.Views.Lookups(r.Value, r.Key, primary.Text(view.PropLookups))
		implied = slices.DeleteFunc(implied, func(l view.Lookup) bool { return l.View != sw.view })
	}
	switch {
	case err != nil:
		sw.fail(row, err)
	case r == nil: // not an entity of this Store
		sw.skip()
	case len(implied) == 0: // a program that does not use the Store has removed the time
		sw.add(nil, &drop)
	case sw.expired(r.Value):
		sw.add(&entity{r, row}, nil)
	case keys.Compare(implied[0].Key.Partition, row.Key.Partition) > 0:
		sw.add(nil, &rowWork{row, &implied[0], func(r *types.SweepReport) { r.Skipped++ }})
	default:
		sw.skip()
	}
}

// expired reports whether an entity has expired, at least OlderThan ago. In a Store for which the view is building or retired it has not.
func (sw *sweeper) expired(entity any) bool {
	at, ok := sw.store.Views.Expires(entity)
	age := sw.store.Table.Client.Age(at)
	return ok && age > 0 && age >= sw.OlderThan
}

func (sw *sweeper) add(e *entity, w *rowWork) {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	if e != nil {
		sw.gone = append(sw.gone, *e)
	} else {
		sw.work = append(sw.work, *w)
	}
}

// delete deletes the entities that have expired, those of a partition in as few transactions as possible.
func (sw *sweeper) delete(ctx context.Context) {
	failures := map[int]error{}
	if !sw.DryRun {
		b := outbox.NewBulk(sw.store, sw.store.Parallel, func(types.Progress) {}, func(index int, _ keys.Key, _ any, err error) {
			failures[index] = err
		})
		for _, e := range sw.gone {
			b.Add(ctx, outbox.Deletion(e.Record), nil, nil)
		}
		b.Flush(ctx)
	}
	for i, e := range sw.gone {
		switch err := failures[i]; {
		case err == nil:
			sw.work = append(sw.work, rowWork{row: e.row, count: func(r *types.SweepReport) { r.Done++ }})
		case errors.Is(err, azerr.ErrConflict), errors.Is(err, azerr.ErrNotFound): // changed since it was read: the row stays
			sw.skip()
		default:
			sw.fail(e.row, err)
		}
	}
	sw.gone = nil
}

// change moves and deletes rows, those of a partition in as few transactions as possible. A row is deleted after the one
// that it is moved to is stored.
func (sw *sweeper) change(ctx context.Context) {
	work := sw.work
	sw.work = nil
	failed := sw.write(ctx, work, func(w *rowWork) *txn.Op {
		if w.later == nil {
			return nil
		}
		return w.later.Put(w.row.Primary)
	})
	moved := slices.DeleteFunc(slices.Clone(work), func(w rowWork) bool { return failed[w.row.Row()] })
	failed = sw.write(ctx, moved, func(w *rowWork) *txn.Op {
		op := &txn.Op{Kind: wire.Delete, ETag: "*", IfExists: true}
		op.At(w.row.Row())
		return op
	})
	for _, w := range moved {
		if !failed[w.row.Row()] {
			sw.count(w.count)
		}
	}
}

// write carries out the operation of each row, if it has one. It returns the rows whose operation failed, which it has counted.
func (sw *sweeper) write(ctx context.Context, work []rowWork, of func(*rowWork) *txn.Op) map[keys.Key]bool {
	failed := map[keys.Key]bool{}
	if sw.DryRun {
		return failed
	}
	var sent []rowWork
	b := txn.NewBulk(sw.table, sw.store.Parallel, func(types.Progress) {}, func(index int, _ keys.Key, _ *txn.Op, err error) {
		if !errors.Is(err, azerr.ErrNotFound) { // another sweep was faster
			failed[sent[index].row.Row()] = true
			sw.fail(sent[index].row, err)
		}
	})
	for _, w := range work {
		if op := of(&w); op != nil {
			sent = append(sent, w)
			b.Add(ctx, op)
		}
	}
	b.Flush(ctx)
	return failed
}

func (sw *sweeper) count(add func(*types.SweepReport)) {
	sw.Count(func(r *types.SweepReport) {
		r.Found++
		add(r)
	})
}

func (sw *sweeper) skip() { sw.count(func(r *types.SweepReport) { r.Skipped++ }) }

func (sw *sweeper) fail(row outbox.LookupRow, err error) {
	sw.count(func(r *types.SweepReport) {
		r.Failed++
		r.Failures = append(r.Failures, types.SweepFailure{Key: row.Row(), Err: err})
	})
}
