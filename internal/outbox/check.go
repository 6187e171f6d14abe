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
)

// Checked is a row of a view that a primary may imply or have, and what [Store.Check] has found
// out about it.
type Checked struct {
	Primary keys.Key
	Ref     types.RowRef
	Stored  bool // there may be something of the primary in the row, according to the caller

	Differed bool // the caller has read both since the beginning of its scan, and they differed

	Wanted bool  // the primary implies the row
	Own    bool  // the row exists, and belongs to no other primary
	Held   bool  // the row belongs to another primary, which implies it too, or to no view
	Err    error `json:"-"` // why it cannot be checked

	drainRow
	at    place
	names []string    // of the rows to read: itself and, if it is merged into, the mark
	read  *together   // these, after the primary if they are in its partition
	was   *txn.Record // the primary, nil if there is none
	other *view.OwnedByOther
}

// place is a partition with derived rows.
type place struct {
	table     *view.RemoteTable
	partition string
	only      string // the properties to read, "" for all
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
	c := &check{Store: s, home: place{table: s.own, partition: rows[0].Primary.Partition}, since: since, grace: grace}
	for i := range rows {
		if err := s.locate(&rows[i], c.home); err != nil {
			return nil, 0, 0, err
		}
	}
	for round := 0; len(rows) > 0 && round <= 2*s.Tries; round++ {
		if round > 1 && calls.Pause(ctx, round/2) != nil {
			return nil, 0, c.requests, ctx.Err()
		}
		if rows, err = c.round(ctx, rows); err != nil {
			return nil, 0, c.requests, err
		}
	}
	for i := range c.differ {
		c.findOwner(ctx, &c.differ[i])
	}
	return c.differ, c.undecided + len(rows), c.requests, nil
}

// check is the work of [Store.Check].
type check struct {
	*Store
	home      place // of the primaries
	since     time.Time
	grace     time.Duration
	differ    []Checked
	undecided int
	requests  int
}

// round reads the primaries and, if one has changed since the last round, its row. It returns the rows
// that are to be read again.
func (c *check) round(ctx context.Context, rows []Checked) (again []Checked, err error) {
	local := make([]*together, len(rows))
	for i := range rows {
		r := &rows[i]
		local[i] = &together{names: []string{r.Primary.Row}, differed: r.Differed}
		if r.at == c.home {
			local[i].names = append(local[i].names, r.names...)
		}
	}
	n, err := c.readTogether(ctx, c.home, local, c.since)
	if c.requests += n; err != nil {
		return nil, err
	}
	changed := c.changedPrimaries(rows, local)
	pending, err := c.readRemote(ctx, changed)
	if err != nil {
		return nil, err
	}
	for i := range changed {
		r := &changed[i]
		before := r.found
		switch c.compare(r, before, pending[r.Primary.Row][r.Ref]) {
		case isUndecided:
			c.undecided++
		case isWrong:
			c.differ = append(c.differ, *r)
		case isUnconfirmed:
			again = append(again, *r)
		}
	}
	return again, nil
}

// changedPrimaries returns the rows whose primaries, which were read as the first rows of local, have
// changed or were read for the first time. It decides about the others.
func (c *check) changedPrimaries(rows []Checked, local []*together) (changed []Checked) {
	for i, r := range rows {
		switch same := c.imply(&r, local[i].rows[0]); {
		case same:
			c.differ = append(c.differ, r)
			continue
		case r.Err != nil: // the caller has found that when it read the primary
			c.undecided++
			continue
		case r.at != c.home:
			r.read = &together{names: r.names}
		default:
			r.read = &together{names: r.names, rows: local[i].rows[1:], snapshot: local[i].snapshot}
		}
		changed = append(changed, r)
	}
	return changed
}

// readRemote reads those of the rows that are not in the partition of the primaries. It returns the
// remote rows that operations are about to write, by the row keys of the primaries.
func (c *check) readRemote(ctx context.Context, rows []Checked) (pending map[string]map[types.RowRef]bool, err error) {
	remote := map[place][]*together{}
	for i := range rows {
		if r := &rows[i]; r.at != c.home {
			remote[r.at] = append(remote[r.at], r.read)
		}
	}
	if len(remote) == 0 {
		return nil, nil
	}
	pending, err = c.pending(ctx, c.home.partition)
	if c.requests++; err != nil {
		return nil, err
	}
	for at, sets := range remote {
		n, err := c.readTogether(ctx, at, sets, time.Time{})
		if c.requests += n; err != nil {
			return nil, err
		}
	}
	return pending, nil
}

// comparison is what the comparison of a row with its primary has found.
type comparison int

const (
	isRight comparison = iota
	isUndecided
	isWrong
	isUnconfirmed // it differs, but perhaps from an earlier version of the primary
)

// compare compares a row that was read with its primary. before is what was found there in the last
// round; pending means that an operation is about to write the row.
func (c *check) compare(r *Checked, before view.Found, pending bool) comparison {
	e := r.read.rows[0]
	agrees := r.agrees()
	switch {
	case pending:
		return isUndecided
	case agrees:
		return isRight
	case r.was != nil && c.young(r.was.Timestamp), e != nil && c.young(e.Timestamp):
		return isUndecided
	case r.Superfluous() && e != nil && c.tableAge(r.view, e.Timestamp) < c.Expiry: // its operation may be in progress
		return isUndecided
	case r.Err != nil, r.at == c.home && r.read.snapshot:
		return isWrong
	case r.was == nil && before.Row.ETag == r.found.Row.ETag && before.Mark.ETag == r.found.Mark.ETag:
		return isWrong
	}
	return isUnconfirmed
}

// young reports whether a row that was changed then is too young to be judged.
func (c *check) young(changed time.Time) bool {
	return c.grace > 0 && c.own.Client.Age(changed) < c.grace
}

// tableAge returns the age of a row of v that was changed then, by the clock of its table.
func (c *check) tableAge(v *view.View, changed time.Time) time.Duration {
	table, _ := c.tableOf(v)
	return table.Client.Age(changed)
}

// findOwner finds out to whom a row that differs belongs.
func (c *check) findOwner(ctx context.Context, r *Checked) {
	if r.Own = r.other == nil && !r.found.Row.Absent(); r.other == nil || !r.Wanted {
		return
	}
	if r.Held = !r.other.Known; r.Held {
		return
	}
	c.requests++
	owner, err := c.holder(ctx, r.view, r.claim.Key, r.other)
	if r.Held = owner != nil; err != nil && !errors.Is(err, keys.ErrBadKey) && !errors.Is(err, azerr.ErrKeyChanged) { // a row of another kind
		r.Err = err
	}
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
	c.at = place{table: c.table, partition: c.Ref.Partition}
	if c.view.Shape.Kind == types.Merges {
		c.names = append(c.names, c.claim.MarkKey().Row)
	}
	return nil
}

// imply fills in what the primary, which was read as e, implies for the row. It reports whether
// the primary was the same the last time.
func (s *Store) imply(c *Checked, e *fetch.Entry) (same bool) {
	was := c.was
	if c.was, c.Err = s.PrimaryOf(e); c.Err != nil {
		return false
	}
	if was != nil && c.was != nil && was.ETag == c.was.ETag {
		return true
	}
	var implied []view.Derived
	implied, c.Err = s.implied(c.was)
	c.claim.Wanted, c.claim.Body, c.claim.Merge = false, nil, types.MergeSpec{}
	c.want(implied, true, false)
	if c.view.Shape.Kind == types.Lookups && c.Err == nil {
		var rows []view.Lookup
		rows, c.Err = s.lookupsOf(c.was)
		c.claim.Wanted = slices.ContainsFunc(rows, func(l view.Lookup) bool { return l.View == c.view && l.Row() == c.claim.Key })
	}
	c.Wanted = c.claim.Wanted
	if c.table == nil {
		c.claim.Merge.Add = nil // nothing shows what was counted
	}
	return false
}

// Superfluous reports whether the row is a lookup row that no primary names, which has no effect.
func (c *Checked) Superfluous() bool { return c.view.Shape.Kind == types.Lookups && !c.Wanted }

// Lookup returns the row if it is superfluous.
func (c *Checked) Lookup() (row LookupRow, ok bool) {
	row.Primary = c.Primary
	row.Lookup, ok = c.view.LookupAt(c.Ref.Key())
	return row, ok && c.Superfluous()
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
