package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

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
	of := map[string][]LookupRow{} // by partition of their primaries
	for i := range rows {
		row, ok := sw.store.lookupRow(t, &rows[i])
		if ok && row.Old && t.Client.Age(rows[i].Timestamp) >= sw.OlderThan {
			of[row.Primary.Partition] = append(of[row.Primary.Partition], row)
		}
	}
	for _, some := range of {
		_, err := sw.store.RemoveLookups(ctx, some, func(row LookupRow, remove func() error) error {
			sw.do(row.Row(), remove, func(r *types.SweepReport) { r.Done++; r.Lookups++ })
			return nil // a failure is in the report
		})
		if err != nil {
			sw.count(some[0].Row(), err, nil)
		}
	}
}

// LookupRow is a lookup row that was read.
type LookupRow struct {
	view.Lookup
	Primary keys.Key // which it contains
	Old     bool     // it is older than Expiry, by the Date of the reply that contained it, or of an earlier one
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

// RemoveLookup removes a row that its primary does not name. It is not an error if it does not exist.
func (s *Store) RemoveLookup(ctx context.Context, row LookupRow) error {
	table, _ := s.tableOf(row.View)
	_, err := table.Client.Write(ctx, txn.Delete(row.Row(), "*"))
	if errors.Is(err, azerr.ErrNotFound) {
		return nil
	}
	return err
}

// RemoveLookups reads the primaries of rows, which are in one partition, and calls do for each row that its
// primary does not name, with the function that removes it. The caller has read the rows, and found, by the Date of a reply that it
// had before this call, that they were older than Expiry: rule L5. So no transaction that names them can still arrive.
func (s *Store) RemoveLookups(ctx context.Context, rows []LookupRow, do func(row LookupRow, remove func() error) error) (int, error) {
	primaries, requests, err := s.LookupPrimaries(ctx, rows)
	if err != nil {
		return requests, err
	}
	return requests, calls.Each(ctx, len(rows), s.Parallel, func(ctx context.Context, i int) error {
		if primaries[i] != nil {
			return nil
		}
		return do(rows[i], func() error { return s.RemoveLookup(ctx, rows[i]) })
	})
}

// LookupPrimaries returns the rows that contain the primaries of lookup rows, which are in one partition: nil for a primary
// that does not exist, or does not name the row. It makes few requests, see [Store.readTogether].
func (s *Store) LookupPrimaries(ctx context.Context, rows []LookupRow) (primaries []*fetch.Entry, requests int, err error) {
	sets := make([]*together, len(rows))
	for i := range rows {
		sets[i] = &together{names: []string{rows[i].Primary.Row}}
	}
	requests, err = s.readTogether(ctx, place{s.own, rows[0].Primary.Partition}, sets, time.Time{})
	if err != nil {
		return nil, requests, err
	}
	for i := range rows {
		e := sets[i].rows[0]
		if e != nil && !rows[i].NamedBy(e.Text(view.PropLookups)) {
			e = nil
		}
		primaries = append(primaries, e)
	}
	return primaries, requests, nil
}

// keeps is [Store.holds] of a Store whose entities expire: one that has expired does not keep its row. It is
// deleted, with all its rows.
func keeps(ctx context.Context, s *Store, v *view.View, key keys.Key, owned *view.OwnedByOther) (bool, error) {
	if !owned.Known {
		return true, nil
	}
	r, err := s.find(ctx, owned.Owner)
	if err != nil || r == nil {
		return false, err
	}
	holds, err := s.implies(r, v, key, owned)
	if !holds || err != nil || !s.expired(r.Value) || s.Table.Writable.Check(owned.Owner.Partition) != nil {
		return holds, err
	}
	_, err = s.Run(ctx, Deletion(r))
	if err == nil || errors.Is(err, azerr.ErrNotFound) {
		return false, nil
	}
	if errors.Is(err, azerr.ErrConflict) {
		err = nil // it was changed, so it may not have expired
	}
	return true, err
}
