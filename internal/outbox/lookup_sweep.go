package outbox

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// LookupRow is a lookup row that was read, or is written.
type LookupRow struct {
	view.Lookup
	Primary keys.Key // which it contains
	Old     bool     // it is older than Expiry, by the Date of the reply that contained it, or of an earlier one

	Later *view.Lookup // the row that takes its place if it is removed, nil for none
}

// lookupsOf returns the lookup rows that a primary implies which was read; nil implies none.
func (s *Store) lookupsOf(r *txn.Record) ([]view.Lookup, error) {
	if r == nil {
		return nil, nil
	}
	return s.Views.Before(view.ListingOf(r.Origin)).Lookups(r.Value, r.Key, view.LookupsOf(unknownOf(r.Origin)))
}

// hasLookup reports whether one of the rows is a lookup row. It is not repaired by itself, because its id must not be used again.
func (s *Store) hasLookup(refs []types.RowRef) bool {
	return slices.ContainsFunc(refs, func(ref types.RowRef) bool {
		v, err := s.Views.View(ref.View)
		return err == nil && v.Shape.Kind == types.Lookups
	})
}

// lookupViews returns the names of the views with lookup rows in a table.
func (s *Store) lookupViews(t *view.RemoteTable) (names []any) {
	for _, v := range s.Views.Views {
		if v.Shape.Kind == types.Lookups && v.Expiring == nil && v.TargetID() == t.ID() {
			names = append(names, v.Name)
		}
	}
	return names
}

// lookups removes those of the rows that are lookup rows which no primary names.
func (sw *sweeper) lookups(ctx context.Context, t *view.RemoteTable, rows []fetch.Entry) {
	var old []LookupRow
	for i := range rows {
		row, ok := sw.store.lookupRow(t, &rows[i])
		if ok && row.Old && t.Client.Age(rows[i].Timestamp) >= sw.OlderThan {
			old = append(old, row)
		}
	}
	sw.store.RemoveSuperfluous(ctx, old, sw.DryRun, func(row LookupRow, err error) {
		sw.Found(row.Row(), err, func(r *types.SweepReport) { r.Done++; r.Lookups++ })
	})
}

// RemoveSuperfluous removes those of some rows that no primary names, and calls done for each of them, and with the error of a row
// whose primary cannot be read. It returns how many requests it took to read the primaries.
func (s *Store) RemoveSuperfluous(ctx context.Context, rows []LookupRow, dryRun bool, done func(row LookupRow, err error)) (requests int) {
	var gone []LookupRow
	requests = s.LookupPrimaries(ctx, rows, func(row LookupRow, primary *fetch.Entry, err error) {
		if err != nil {
			done(row, err)
		} else if primary == nil {
			gone = append(gone, row)
		}
	})
	failed := map[int]error{}
	if !dryRun {
		s.RemoveLookups(ctx, gone, func(i int, err error) { failed[i] = err })
	}
	for i, row := range gone {
		done(row, failed[i])
	}
	return requests
}

// LookupPage returns those rows of a page that are lookup rows of v. One request.
func (s *Store) LookupPage(ctx context.Context, v *view.View, f query.Filter, cursor string, opts *types.QueryOptions) (rows []LookupRow, next string, err error) {
	table, _ := s.tableOf(v)
	page, next, err := fetch.PropertiesPage(ctx, table.Client, f, opts, cursor)
	for i := range page {
		if row, ok := s.lookupRow(table, &page[i]); ok && row.View == v {
			rows = append(rows, row)
		}
	}
	return rows, next, err
}

// lookupRow returns the lookup row in a row of a table. ok is false if it is another row.
func (s *Store) lookupRow(t *view.RemoteTable, e *fetch.Entry) (row LookupRow, ok bool) {
	v, err := s.Views.View(e.Text(view.PropView))
	if err != nil || v.TargetID() != t.ID() {
		return row, false
	}
	row.Primary = keys.Key{Partition: e.Text(view.PropOwnerPK), Row: e.Text(view.PropOwnerRK)}
	row.Old = t.Client.Age(e.Timestamp) >= s.Expiry
	row.Lookup, ok = v.LookupAt(e.Key)
	return row, ok
}

// LookupPrimaries reads the primaries of rows, those of a partition in few requests, see [Store.readTogether]. It calls do for each row
// with the row of its primary, nil if that does not exist, or does not name the lookup row, or with the error that it met. If that was
// older than Expiry by the Date of a reply that the caller had before this call, no transaction that names it can still arrive, and
// it may be removed: rule L5.
func (s *Store) LookupPrimaries(ctx context.Context, rows []LookupRow, do func(row LookupRow, primary *fetch.Entry, err error)) (requests int) {
	of := map[string][]LookupRow{}
	for _, row := range rows {
		of[row.Primary.Partition] = append(of[row.Primary.Partition], row)
	}
	groups := slices.Collect(maps.Values(of))
	var mu sync.Mutex
	s.each(len(groups), func(i int) {
		var sets []*together
		var n int
		partition := groups[i][0].Primary.Partition
		err := s.where(ctx, partition, func(at *Store) (err error) {
			sets = nil
			for _, row := range groups[i] {
				sets = append(sets, &together{names: []string{row.Primary.Row}})
			}
			n, err = at.readTogether(ctx, place{table: at.own, partition: partition}, sets, time.Time{})
			return err
		})
		mu.Lock()
		defer mu.Unlock()
		requests += n
		for k, row := range groups[i] {
			var e *fetch.Entry
			if err == nil {
				e = sets[k].rows[0]
			}
			if e != nil && !row.NamedBy(e.Text(view.PropLookups)) {
				e = nil
			}
			do(row, e, err)
		}
	})
	return requests
}

func (s *Store) where(ctx context.Context, partition string, f func(*Store) error) error {
	if s.Where == nil {
		return f(s)
	}
	return s.Where(ctx, partition, f)
}

// RemoveLookups removes rows, each after the one that takes its place is stored. It is not an error if one does not exist.
func (s *Store) RemoveLookups(ctx context.Context, rows []LookupRow, failed func(i int, err error)) {
	stays := map[int]bool{}
	s.writeLookups(ctx, rows, func(i int) *txn.Op {
		if rows[i].Later == nil {
			return nil
		}
		return rows[i].Later.Put(rows[i].Primary)
	}, func(i int, err error) {
		stays[i] = true
		failed(i, err)
	})
	s.writeLookups(ctx, rows, func(i int) *txn.Op {
		if stays[i] {
			return nil
		}
		op := &txn.Op{Kind: wire.Delete, ETag: "*", IfExists: true}
		op.At(rows[i].Row())
		return op
	}, func(i int, err error) {
		if !errors.Is(err, azerr.ErrNotFound) {
			failed(i, err)
		}
	})
}

// writeLookups carries out an operation on each row for which there is one, those of a partition in as few transactions as possible.
// Calls of failed do not overlap.
func (s *Store) writeLookups(ctx context.Context, rows []LookupRow, of func(i int) *txn.Op, failed func(i int, err error)) {
	ops := make([]*txn.Op, len(rows))
	in := map[*view.RemoteTable][]int{}
	for i := range rows {
		if ops[i] = of(i); ops[i] != nil {
			table, _ := s.tableOf(rows[i].View)
			in[table] = append(in[table], i)
		}
	}
	var mu sync.Mutex
	tables := slices.Collect(maps.Keys(in))
	s.each(len(tables), func(n int) {
		table := &txn.Table{Client: tables[n].Client, Codec: edm.PropertiesCodec(), Zero: func() any { return new(edm.Properties) }}
		b := txn.NewBulk(table, s.Parallel, func(types.Progress) {}, func(k int, _ keys.Key, _ *txn.Op, err error) {
			mu.Lock()
			defer mu.Unlock()
			failed(in[tables[n]][k], err)
		})
		b.Alone = true
		for _, i := range in[tables[n]] {
			b.Add(ctx, ops[i])
		}
		b.Flush(ctx)
	})
}
