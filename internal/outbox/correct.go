package outbox

import (
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Corrections returns the intents to correct rows that Check has returned, except those that are
// held: of named rows, and of all rows of a primary, which go in different transactions. requests is
// what they take besides [Store.Requests].
func (s *Store) Corrections(rows []Checked) (all [2][]*Intent, requests int) {
	type target struct {
		primary keys.Key
		whole   int
	}
	of := map[target]*Intent{}
	for i := range rows {
		c := &rows[i]
		if c.Held {
			continue
		}
		at := target{primary: c.Primary}
		if c.Wanted && (c.view.Shape.Kind == types.Merges && c.table == nil || s.Views.Adds(c.Ref.View, view.ListingOf(c.was.Origin))) {
			at.whole = 1
		}
		in := of[at]
		if in == nil {
			in = unchanged("repair", c.Primary, c.was)
			in.Repair, in.Found, of[at] = true, map[types.RowRef]view.Found{}, in
			all[at.whole] = append(all[at.whole], in)
		}
		in.Corrects++
		if in.Found[c.Ref] = c.found; at.whole == 0 {
			in.Rows = append(in.Rows, c.Ref)
		}
		if c.other != nil {
			requests++ // to read the primary that the row belonged to
		}
	}
	return all, requests
}

// Filling returns the intent to store the rows of a view for the primary that was read as e, or to
// remove those of a retired one; nil if e is no primary, or has them.
func (s *Store) Filling(e *fetch.Entry, name string) *Intent {
	r, err := s.primaryOf(e)
	if err != nil || r == nil {
		return nil
	}
	listing := view.ListingOf(r.Origin)
	if !s.Views.Adds(name, listing) && !(listing.Has(name) && s.Views.IsRetired(name)) {
		return nil
	}
	in := unchanged("backfill", r.Key, r)
	in.Fill = true
	return in
}

// unchanged returns an intent that leaves a primary, nil for none, as it is.
func unchanged(op string, key keys.Key, primary *txn.Record) *Intent {
	return &Intent{Op: op, Key: key, Was: primary, Known: true, Reread: true, Repeatable: true, IfExists: true, Next: func(was *txn.Record) (any, error) {
		return valueOf(was), nil
	}}
}
