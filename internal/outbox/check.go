package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// Checked is a row of a view that a primary may imply or have, and what [Store.Check] has found
// out about it.
type Checked struct {
	Primary keys.Key
	Ref     view.RowRef
	Stored  bool // there may be something of the primary in the row, according to the caller

	Differed bool // the caller has read both since the beginning of its scan, and they differed

	Wanted bool  // the primary implies the row
	Own    bool  // the row exists, and belongs to no other primary
	Held   bool  // the row belongs to another primary, which implies it too, or to no view
	Err    error `json:"-"` // why it cannot be checked

	target
	at    place
	names []string    // of the rows to read: itself and, if it is merged into, the mark
	read  *together   // these, after the primary if they are in its partition
	was   *txn.Record // the primary, nil if there is none
	other *view.OwnedByOther
}

// place is a partition with derived rows.
type place struct {
	table     *view.Table
	partition string
}

// Check returns those of some rows that differ from what their primaries, which are in one
// partition, imply, and those that it cannot check. It reads the primary, the row, and the primary again. If both versions are the
// same, it was the current one while the row was read.
//
//   - So a local row that differs is wrong: its transaction also changes the primary. If both were
//     as they were read at one moment, that is certain without the second read, and so it is if one
//     has not changed since the time since, and the caller has found after it that they differ: see
//     [reading]. No outbox row names a local row.
//   - A remote row may be about to be written, but then its operation has an outbox row, which
//     is deleted only when nothing more can be written. So the outbox rows are read after the
//     primary and before the row. If the operation is not among them, and the row differs, it is
//     wrong.
//   - If there is no primary, it may have been inserted and deleted between its reads. Then the
//     outbox rows and the row are read again at the end: a row that has not changed exists without
//     a primary.
//
// undecided is how many rows an operation is about to write, changed whenever they were read,
// differ but were changed, as was their primary, less than grace ago, or have a primary that cannot be
// read.
func (s *Store) Check(ctx context.Context, rows []Checked, since time.Time, grace time.Duration) (differ []Checked, undecided, requests int, err error) {
	home := place{s.own, rows[0].Primary.Partition}
	for i := range rows {
		if err := s.locate(&rows[i], home); err != nil {
			return nil, 0, 0, err
		}
	}
	young := func(changed time.Time) bool { return grace > 0 && s.own.Client.Age(changed) < grace }
	for round := 0; len(rows) > 0 && round <= 2*s.Tries; round++ {
		if round > 1 && calls.Pause(ctx, round/2) != nil {
			return nil, 0, requests, ctx.Err()
		}
		local := make([]*together, len(rows))
		for i := range rows {
			c := &rows[i]
			local[i] = &together{names: []string{c.Primary.Row}, differed: c.Differed}
			if c.at == home {
				local[i].names = append(local[i].names, c.names...)
			}
		}
		n, err := s.readTogether(ctx, home, local, since)
		if requests += n; err != nil {
			return nil, 0, requests, err
		}
		var changed []Checked // or read for the first time
		remote := map[place][]*together{}
		for i, c := range rows {
			same := s.imply(&c, local[i].rows[0])
			switch {
			case same:
				differ = append(differ, c)
				continue
			case c.Err != nil: // the caller has found that when it read the primary
				undecided++
				continue
			case c.at != home:
				c.read = &together{names: c.names}
				remote[c.at] = append(remote[c.at], c.read)
			default:
				c.read = &together{names: c.names, rows: local[i].rows[1:], snapshot: local[i].snapshot}
			}
			changed = append(changed, c)
		}
		var pending map[string]map[view.RowRef]bool
		if len(remote) > 0 {
			pending, err = s.pending(ctx, home.partition)
			if requests++; err != nil {
				return nil, 0, requests, err
			}
			for at, sets := range remote {
				n, err := s.readTogether(ctx, at, sets, time.Time{})
				if requests += n; err != nil {
					return nil, 0, requests, err
				}
			}
		}
		rows = nil
		for _, c := range changed {
			e, before := c.read.rows[0], c.found
			agrees := c.agrees()
			switch {
			case pending[c.Primary.Row][c.Ref]:
				undecided++
			case agrees:
			case c.was != nil && young(c.was.Timestamp), e != nil && young(e.Timestamp):
				undecided++
			case c.Err != nil, c.at == home && c.read.snapshot, c.was == nil && before.Row.ETag == c.found.Row.ETag && before.Mark.ETag == c.found.Mark.ETag:
				differ = append(differ, c)
			default:
				rows = append(rows, c)
			}
		}
	}
	for i := range differ {
		c := &differ[i]
		if c.Own = c.other == nil && !c.found.Row.Absent(); c.other == nil || !c.Wanted {
			continue
		}
		if c.other.Known {
			requests++
		}
		c.Held, err = s.holds(ctx, c.view, c.claim.Key, c.other)
		if err != nil && !errors.Is(err, keys.ErrBadKey) && !errors.Is(err, azerr.ErrKeyChanged) { // a row of another kind
			c.Err = err
		}
	}
	return differ, undecided + len(rows), requests, nil
}

// locate fills in what does not change.
func (s *Store) locate(c *Checked, home place) (err error) {
	if c.view, err = s.Views.View(c.Ref.View); err != nil {
		return err
	}
	c.claim = view.Claim{View: c.view, Key: c.Ref.Key(), Owner: c.Primary}
	c.names, c.at = []string{c.Ref.Row}, home
	if s.isLocal(c.view, c.Primary, c.Ref) {
		return nil
	}
	c.table, _ = s.tableOf(c.view)
	c.at = place{c.table, c.Ref.Partition}
	if c.view.Shape.Kind == view.Merges {
		c.names = append(c.names, c.claim.MarkKey().Row)
	}
	return nil
}

// imply fills in what the primary, which was read as e, implies for the row. It reports whether
// the primary was the same the last time.
func (s *Store) imply(c *Checked, e *fetch.Entry) (same bool) {
	was := c.was
	if c.was, c.Err = s.primaryOf(e); c.Err != nil {
		return false
	}
	if was != nil && c.was != nil && was.ETag == c.was.ETag {
		return true
	}
	var implied []view.Derived
	implied, c.Err = s.implied(c.was)
	c.claim.Wanted, c.claim.Body, c.claim.Merge = false, nil, view.MergeSpec{}
	c.want(implied, true, false)
	c.Wanted = c.claim.Wanted
	if c.table == nil {
		c.claim.Merge.Add = nil // nothing shows what was counted
	}
	return false
}

// Owner is the primary that has a row which is Held, zero if it belongs to no view.
func (c *Checked) Owner() keys.Key {
	if !c.Held {
		return keys.Key{}
	}
	return c.other.Owner
}

// agrees reports whether the row, as it was read, agrees with the primary.
func (c *Checked) agrees() (agrees bool) {
	var err error
	for i, row := range []*txn.Row{&c.found.Row, &c.found.Mark}[:len(c.names)] {
		if *row, err = rowOf(c.read.rows[i]); err != nil {
			break
		}
	}
	if err == nil {
		agrees, c.other, err = c.claim.Agrees(c.found)
	}
	if err != nil {
		c.Err = &types.ViewError{View: c.Ref.View, Err: err}
	}
	return agrees
}

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
		if c.Wanted && (c.view.Shape.Kind == view.Merges && c.table == nil || s.Views.Adds(c.Ref.View, view.ListingOf(c.was.Origin))) {
			at.whole = 1
		}
		in := of[at]
		if in == nil {
			in = unchanged("repair", c.Primary, c.was)
			in.Repair, in.Found, of[at] = true, map[view.RowRef]view.Found{}, in
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
