package reindex

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// state is how far a run has come: what a cursor contains, and the state of a shared run. A run
// is a sequence of stages. The jobs of a stage can be done in any order, by any process, and more
// than once.
type state struct {
	Options
	Of    string // the views, with their definitions, and Fill
	Fill  string // the view to backfill, if any
	Parts []part // of all tables, that of the primaries first

	// The primaries that are being verified are those whose hash begins with these binary digits. A
	// run divides a class of primaries that has more differences than a sketch can hold. A row of
	// a primary is so verified in one pass only, whatever it contains.
	Class string

	Stage  int // the number of the stage, from 1
	Kind   stage
	Jobs   int                // of the stage
	Done   []int              // those that are done
	Part   part               // what is left of the one in progress, if it reads rows
	Sketch sketch             // of what the jobs have scanned
	Began  time.Time          // before any primary was scanned, by the clock of the service
	Loose  loose              `json:",omitzero"`  // the rest of that
	Rows   []patterns.RowRef  `json:",omitempty"` // the only rows that are scanned for; nil means all
	Groups [][]outbox.Checked // what the jobs confirm: rows whose primaries are in one partition
	Report Report
	Unread int                     // how many of those that failed could not be checked
	Cause  *patterns.PropertyError `json:",omitempty"` // of the first entity that could not be read, if that is the reason

	// Of a shared run:
	Published bool  // the jobs of the stage were enqueued
	Found     []Job // those that have findings
}

// stage is what the jobs of a stage do.
type stage string

const (
	filling    stage = "filling"    // each stores the rows of a view for a part of the primaries
	scanning   stage = "scanning"   // each makes a sketch of a part of the tables
	confirming stage = "confirming" // each confirms some differences and, in a Repair, repairs them
	finishing  stage = "finishing"  // the only one records the state of the view that was filled
	complete   stage = "complete"
)

// part is what is left to read of a table, or of a key range of it.
type part struct {
	Table    int            // its place among the tables of the run; that of the primaries is the first
	Cursor   string         // of its scan; "" is the whole table
	Progress fetch.Progress // of its scan
}

const (
	maxRows  = 33 // of a group: in the transaction each may take itself, its primary and the outbox row
	perJob   = 32 // groups
	maxDepth = 24 // of the division into classes
)

// newState returns the state of a run that has not begun. fill is the view to backfill, if any.
func newState(opts *Options, dryRun bool, fill string) state {
	s := state{Fill: fill}
	if opts != nil {
		s.Options = *opts
	}
	s.DryRun = dryRun || s.DryRun && fill == ""
	if fill != "" {
		s.Views = []string{fill}
	}
	return s
}

// begin plans the first stage. It divides each table into at most n parts, which takes at most
// 4n+32 requests for each table, none if n is 1. It changes nothing.
func (r *run) begin(ctx context.Context, n int) error {
	r.Stage, r.Kind = 1, scanning
	for i, t := range r.tables {
		cursors := []string{""}
		if n > 1 {
			var err error
			if cursors, err = fetch.DivideProperties(ctx, t.Client, query.Filter{}, r.scanOptions(), n); err != nil {
				return err
			}
		}
		for _, c := range cursors {
			r.Parts = append(r.Parts, part{Table: i, Cursor: c})
		}
		if i == 0 || r.Fill == "" {
			r.Jobs = len(r.Parts)
		}
	}
	if r.Fill != "" {
		if err := r.own(ctx); err != nil {
			return err
		}
		r.Kind = filling
		r.Report.Requests.Fill += 2 // of recordBegin
	}
	return nil
}

// hasBegun notes when the scan of the primaries began, after a request for some of them. previous means that
// they are not the first.
func (r *run) hasBegun(previous bool) {
	now, known := r.tables[0].Client.ServiceTime()
	switch at := now.Add(-calls.Elapsed(r.began)); {
	case !r.Began.IsZero() && (previous || r.Began.Before(at)):
	case previous || !known:
		r.Began = time.Unix(0, 0) // before any row was changed
	default:
		r.Began = at
	}
}

// earliest returns the earlier one of two results of hasBegun; a zero one is of a run that has scanned no primary.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// recordBegin records that a view is being backfilled, or removed, before any primary is changed.
// Two requests, one if that is recorded already.
func (r *run) recordBegin(ctx context.Context) error {
	return r.store.SetViewState(ctx, r.Fill, r.stateOf(patterns.ViewBuilding, patterns.ViewRetiring))
}

// mayBegin fails if recordBegin would. One request.
func (r *run) mayBegin(ctx context.Context) error {
	r.Report.Requests.Fill++
	return r.store.MaySetViewState(ctx, r.Fill, r.stateOf(patterns.ViewBuilding, patterns.ViewRetiring))
}

// recordEnd records that the view was backfilled, or removed. Two requests.
func (r *run) recordEnd(ctx context.Context) error {
	r.Report.Requests.Fill += 2
	return r.store.SetViewState(ctx, r.Fill, r.stateOf(patterns.ViewReady, ""))
}

// stateOf returns the state of a view that is added, or that is removed.
func (r *run) stateOf(added, retired string) string {
	if r.store.Views.IsRetired(r.Fill) {
		return retired
	}
	return added
}

// finish records that a job is done. After the last one it plans the next stage, which follows
// from the state alone, whichever process computes it.
func (s *state) finish(job int) (err error) {
	if s.Done = append(s.Done, job); len(s.Done) < s.Jobs {
		return nil
	}
	ended := s.Kind
	s.Stage++
	s.Kind, s.Jobs, s.Done, s.Groups, s.Published = scanning, len(s.Parts), nil, nil, false
	switch ended {
	case filling:
		return nil
	case scanning:
		s.Report.Passes++
		located := s.Rows != nil
		all, ok, err := s.differences()
		switch {
		case err != nil, !located && s.Rows != nil:
			return err
		case !ok && len(s.Class) == maxDepth:
			return fmt.Errorf("rows that differ: %w", azerr.ErrTooLarge)
		case !ok:
			s.Class += "0"
			return nil
		}
		if s.Groups, err = groupsOf(all); err != nil || len(s.Groups) > 0 {
			s.Kind, s.Jobs = confirming, (len(s.Groups)+perJob-1)/perJob
			return err
		}
	}
	if first := strings.TrimRight(s.Class, "1"); first != "" { // the other half is next
		s.Class = first[:len(first)-1] + "1"
		return nil
	}
	s.Kind, s.Jobs = complete, 0
	if s.Fill != "" && ended != finishing && s.Report.Failed == 0 {
		s.Kind, s.Jobs = finishing, 1
	}
	return nil
}

// verifies reports whether the primary of a part is of the class that is being verified, and its row
// one of those that are.
func (r *run) verifies(p *view.Part) bool {
	if r.rows == nil && r.Rows != nil {
		r.rows = make(map[patterns.RowRef]bool, len(r.Rows))
		for _, ref := range r.Rows {
			r.rows[ref] = true
		}
	}
	switch {
	case r.Rows != nil && !r.rows[refOf(p)]:
		return false
	case r.Class == "":
		return true
	}
	return strings.HasPrefix(fmt.Sprintf("%064b", hashOf(p.Primary.Partition, p.Primary.Row)), r.Class)
}

func refOf(p *view.Part) patterns.RowRef {
	return patterns.RowRef{View: p.View, Partition: p.Key.Partition, Row: p.Key.Row}
}

// groupsOf returns the rows that differ in groups that are confirmed together.
func groupsOf(all []difference) (groups [][]outbox.Checked, err error) {
	stored, certain := map[view.Part]bool{}, map[view.Part]bool{}
	for _, d := range all {
		p, err := view.ParsePart(d.element)
		if err != nil {
			return nil, err
		}
		p.Kind, p.Content = 0, [16]byte{}
		stored[p], certain[p] = stored[p] || d.sign < 0, certain[p] || !d.maybe
	}
	for _, p := range slices.SortedFunc(maps.Keys(stored), func(a, b view.Part) int {
		return cmp.Or(a.Primary.Compare(b.Primary), cmp.Compare(a.View, b.View), a.Key.Compare(b.Key))
	}) {
		n := len(groups)
		if n == 0 || len(groups[n-1]) == maxRows || groups[n-1][0].Primary.Partition != p.Primary.Partition {
			groups, n = append(groups, nil), n+1
		}
		groups[n-1] = append(groups[n-1], outbox.Checked{Primary: p.Primary, Ref: refOf(&p), Stored: stored[p], Differed: certain[p]})
	}
	return groups, nil
}
