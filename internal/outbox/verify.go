package outbox

import (
	"context"
	"slices"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// Exact returns s with views that compare rows exactly; see [view.Set.Exact].
func (s *Store) Exact() *Store {
	exact := *s
	exact.Views = s.Views.Exact()
	return &exact
}

// TableOf returns the table of the rows of v. ok is false if its target is no table.
func (s *Store) TableOf(v *view.View) (t *view.RemoteTable, ok bool) { return s.tableOf(v) }

// Parts returns the parts in a row, and those that the row implies if it is in the primaries'
// table and is a primary, of the views that use reports. That their rows are in the row's table
// matters to the first only. What is implied is Loose if the primary does not list the view: then
// another program may have stored the row.
func (s *Store) Parts(e *fetch.Entry, primaries bool, use, here func(*view.View) bool) (stored, wanted []view.Part, primary bool, err error) {
	stored, err = s.Views.StoredParts(e.Key, e.Properties, func(v *view.View) bool { return use(v) && here(v) })
	var r *txn.Record
	if err == nil && primaries {
		r, err = s.PrimaryOf(e)
	}
	if r == nil && err == nil {
		stored = append(stored, s.Views.UnmarkedParts(e.Key, e.Properties, func(v *view.View) bool { return use(v) && here(v) })...)
	}
	if r == nil || err != nil {
		return stored, nil, false, err
	}
	implied, err := s.implied(r)
	if err == nil {
		var lookups []view.Lookup
		lookups, err = s.lookupsOf(r)
		wanted = view.LookupParts(slices.DeleteFunc(lookups, func(l view.Lookup) bool { return !use(l.View) || l.View.Expiring != nil }), r.Key)
	}
	listing := view.ListingOf(r.Origin)
	for i := range implied {
		if err == nil && use(implied[i].View) {
			var parts []view.Part
			parts, err = view.ImpliedParts(&implied[i], e.Key)
			for k := range parts {
				parts[k].Loose = implied[i].View.MayBeUnmarked() && !listing.Has(parts[k].View)
			}
			wanted = append(wanted, parts...)
		}
	}
	return stored, wanted, true, err
}

// implied returns the rows that a primary implies which was read; nil implies none.
func (s *Store) implied(r *txn.Record) ([]view.Derived, error) {
	if r == nil {
		return nil, nil
	}
	return s.Views.Before(view.ListingOf(r.Origin)).Derive(r.Value, r.Key, unknownOf(r.Origin))
}

// pending returns the remote rows of all operations on primaries of a partition that were
// applied and have an outbox row, by row key of the primary: these rows may be out of date. So may
// those of an operation that a worker has completed: its writer may still be about to write what it
// has read before, which is corrected at the latest when the outbox row is removed. One
// request for each 1000 operations in the partition that have an outbox row.
func (s *Store) pending(ctx context.Context, partition string) (map[string]map[types.RowRef]bool, error) {
	pending := map[string]map[types.RowRef]bool{}
	f := query.And(query.PartitionKey.Eq(partition), query.RowKey.Prefix(outboxPrefix))
	for e, err := range fetch.Properties(ctx, s.Table.Client, f, &types.QueryOptions{Select: []string{propFormat, view.PropOwnerRK, propRows}}) {
		if err != nil {
			return nil, err
		}
		format, _ := e.Properties[propFormat].(int32)
		refs, err := (&outboxRow{Format: format, Places: e.Text(propRows)}).refs()
		if err != nil {
			return nil, err
		}
		primary := e.Text(view.PropOwnerRK)
		if pending[primary] == nil {
			pending[primary] = map[types.RowRef]bool{}
		}
		for _, ref := range refs {
			pending[primary][ref] = true
		}
	}
	return pending, nil
}

// Requests returns how many requests RunAll takes for intents whose Was is Known, if no
// other client interferes. It makes none.
func (s *Store) Requests(ctx context.Context, ins []*Intent) (int, error) {
	t := s.newTransaction(ins)
	if err := t.plan(ctx); err != nil {
		return 0, err
	}
	return t.explain().Requests, nil
}

// rowOf returns the row that was read as e, nil for none.
func rowOf(e *fetch.Entry) (r txn.Row, err error) {
	if e == nil {
		return r, nil
	}
	r.ETag = e.ETag
	r.Body, err = e.Encode()
	return r, err
}

// PrimaryOf returns the primary in a row of the primaries' table, nil if it is another row. It
// fails if the row cannot be decoded, because it may be a damaged primary.
func (s *Store) PrimaryOf(e *fetch.Entry) (*txn.Record, error) {
	if e == nil {
		return nil, nil
	}
	var none edm.Unknown
	var marks []edm.Text
	for _, name := range view.MarkProperties() {
		if text, ok := e.Properties[name].(string); ok {
			marks = append(marks, edm.Text{Name: name, Value: text})
		}
	}
	marked := &txn.Record{Key: e.Key, Origin: &txn.Origin{Unknown: none.WithTexts(marks...)}}
	if ok, err := s.Views.IsPrimary(marked, false); !ok || err != nil || !s.Primaries.Match(filterRow{e}) {
		return nil, err
	}
	for _, v := range s.Views.Views {
		if v.Foreign() {
			continue
		}
		if _, claimed, err := v.Claims(e.Key, e.Properties); claimed || err != nil {
			return nil, err
		}
	}
	row, err := rowOf(e)
	if err != nil {
		return nil, err
	}
	r := &txn.Record{Value: s.Table.Zero(), Key: e.Key, ETag: e.ETag, Timestamp: e.Timestamp}
	var meta edm.Meta
	var unknown edm.Unknown
	if err := s.Table.Codec.DecodeAppended(row.Body, r.Value, &meta, &unknown); err != nil {
		return nil, err
	}
	meta.ETag = e.ETag
	r.Origin = txn.NewOrigin(&meta, &unknown, nil, s.Table.Stamped)
	if ok, err := s.Views.IsPrimary(r, true); !ok || err != nil {
		return nil, err
	}
	return r, nil
}

// filterRow is a [query.Row].
type filterRow struct{ *fetch.Entry }

func (e filterRow) Lookup(name string) (any, bool) {
	switch name {
	case "PartitionKey":
		return e.Key.Partition, true
	case "RowKey":
		return e.Key.Row, true
	case "Timestamp":
		return e.Timestamp, true
	}
	value, ok := e.Properties[name]
	return value, ok
}
