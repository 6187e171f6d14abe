package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// drain brings the named rows up to date with the primary: step 4 of a writer, and the
// task of a worker. It ends with a read of the primary that returned the version from
// which the rows were derived, unless all rows were reserved by the operation.
type drain struct {
	primary keys.Key
	op      string // the operation
	refs    []types.RowRef
	began   time.Time // when it was certain last that the operation has a record

	// What a writer knows right after the commit; for the first round only.
	known    *primaryVersion
	diffs    []view.Diff
	found    map[types.RowRef]view.Found // what was read of rows to repair
	early    map[types.RowRef]view.Found // what the attempt has read of other rows before the commit
	reserved map[types.RowRef]*reservation

	held    *heldTransaction // the last read of the primary is left to a Finisher
	after   *heldTransaction // it is a correction of that
	open    bool             // the last read has not been done
	version string           // the ETag of the version of the primary that the rows were derived from, "" for none
}

// primaryVersion is a version of the primary.
type primaryVersion struct {
	value   any    // nil: there is none
	etag    string // "" likewise
	listing view.Listing
	unknown *edm.Unknown // what the row has besides the value
}

func (s *Store) readVersion(ctx context.Context, key keys.Key) (*primaryVersion, error) {
	r, err := s.find(ctx, key)
	if err != nil || r == nil {
		return &primaryVersion{}, err
	}
	return &primaryVersion{r.Value, r.ETag, view.ListingOf(r.Origin), unknownOf(r.Origin)}, nil
}

// drain works in rounds until no other client interferes with one. It reports whether it
// wrote any row. It ends [Store.limit] after d.began: later writes could be wrong after
// the record, which leads to a correction, was removed.
func (s *Store) drain(ctx context.Context, d *drain) (wrote bool, err error) {
	ctx, cancel := context.WithDeadline(ctx, d.began.Add(s.limit()))
	defer cancel()
	for try := 1; ; try++ {
		done, wroteRow, err := s.round(ctx, d)
		wrote = wrote || wroteRow
		if err != nil || done {
			return wrote, err
		}
		if try >= s.Tries {
			return wrote, fmt.Errorf("drain: %w", azerr.ErrConflict)
		}
		d.forget()
		if err := calls.Pause(ctx, try); err != nil {
			return wrote, err
		}
	}
}

// forget drops what a writer knows right after the commit.
func (d *drain) forget() { d.known, d.diffs, d.found, d.early, d.reserved = nil, nil, nil, nil, nil }

// drainAll carries out drains of different primaries and returns the error of each.
func (s *Store) drainAll(ctx context.Context, drains []*drain) []error {
	errs := make([]error, len(drains))
	refs := make([][]types.RowRef, len(drains))
	for i, d := range drains {
		refs[i] = d.refs
	}
	s.eachApart(refs, func(i int) { _, errs[i] = s.drain(ctx, drains[i]) })
	return errs
}

// eachApart calls do(0) to do(len(refs)-1) concurrently, but one after the other for those
// whose refs have a row in common, which would make each other repeat a round.
func (s *Store) eachApart(refs [][]types.RowRef, do func(i int)) {
	var groups [][]int
	groupOf := map[keys.Key]int{}
	for i, of := range refs {
		g := len(groups)
		groups = append(groups, []int{i})
		for _, ref := range of {
			other, shared := groupOf[ref.Key()]
			if shared && other != g { // join the two groups
				groups[other], groups[g] = append(groups[other], groups[g]...), nil
				for key, of := range groupOf {
					if of == g {
						groupOf[key] = other
					}
				}
				g = other
			}
			groupOf[ref.Key()] = g
		}
	}
	groups = slices.DeleteFunc(groups, func(g []int) bool { return g == nil })
	s.each(len(groups), func(g int) {
		slices.Sort(groups[g])
		for _, i := range groups[g] {
			do(i)
		}
	})
}

// round reads the rows, then the primary, writes each row on condition that it has not
// changed, and reads the primary again unless all writes replaced reservations of the
// operation. The rows are read first: a row that an operation is about to need is marked by
// it before the primary changes, so a round that did not see the change cannot delete the row.
func (s *Store) round(ctx context.Context, d *drain) (done, wrote bool, err error) {
	targets, err := s.targets(d)
	if err != nil {
		return false, false, err
	}
	if err := s.readRows(ctx, targets); err != nil {
		return false, false, err
	}
	now := d.known
	if now == nil || slices.ContainsFunc(targets, func(t drainRow) bool { return t.rereadPrimary }) {
		if now, err = s.readVersion(ctx, d.primary); err != nil {
			return false, false, err
		}
	}
	if err := s.knows(d.refs, now.listing); err != nil {
		return false, false, fmt.Errorf("drain: %w", err)
	}
	rows, err := s.Views.Before(now.listing).Derive(now.value, d.primary, now.unknown)
	if err != nil {
		return false, false, fmt.Errorf("drain: %w", err)
	}
	for i := range targets {
		name := targets[i].view.Name
		targets[i].want(rows, now.listing.Has(name), now.listing == "")
	}
	if calls.Elapsed(d.began) >= s.limit() { // the process may have been suspended
		return false, false, fmt.Errorf("drain: %w", errSlow)
	}
	wrote, raced, err := s.writeRows(ctx, targets)
	if err == nil && !raced && slices.ContainsFunc(targets, func(t drainRow) bool { return t.early && !t.unchecked }) {
		d.forget()
		done, again, err := s.round(ctx, d)
		return done, wrote || again, err
	}
	unchecked := slices.ContainsFunc(targets, func(t drainRow) bool { return t.unchecked })
	if err != nil || raced || !unchecked {
		return !raced, wrote, err
	}
	if d.version = now.etag; d.held != nil {
		d.open = true
		return true, true, nil
	}
	last, err := s.readVersion(ctx, d.primary)
	return err == nil && last.etag == d.version, true, err
}

// writeRows writes the rows that are not up to date. A failure of one row does not stop
// the others.
func (s *Store) writeRows(ctx context.Context, targets []drainRow) (wrote, raced bool, err error) {
	errs := make([]error, len(targets))
	wroteRow := make([]bool, len(targets))
	s.each(len(targets), func(i int) { wroteRow[i], errs[i] = targets[i].write(ctx) })
	var lasting []error
	for i := range targets {
		wrote = wrote || wroteRow[i]
		if errors.Is(errs[i], view.ErrRaced) {
			raced = true
		} else if errs[i] != nil {
			lasting = append(lasting, errs[i])
		}
	}
	return wrote, raced, errors.Join(lasting...)
}
