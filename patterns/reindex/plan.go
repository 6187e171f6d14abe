package reindex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
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

	// The primaries that are being verified are those whose hash begins with Depth bits that are
	// Bits. A run divides a class of primaries that has more differences than a sketch can
	// hold. A row of a primary is so verified in one pass only, whatever it contains.
	Depth int
	Bits  uint32

	Stage  int // the number of the stage, from 1
	Kind   stage
	Jobs   int         // of the stage
	Done   []int       // those that are done
	Part   part        // what is left of the one in progress, if it reads rows
	Sketch sketch      // of what the jobs have scanned
	Groups [][]suspect // what the jobs confirm: rows whose primaries are in one partition
	Report Report

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

// stateOf returns the state of a run that has not begun. fill is the view to backfill, if any.
func stateOf(fill string, opts *Options) state {
	s := state{Fill: fill}
	if opts != nil {
		s.Options = *opts
	}
	if fill != "" {
		s.Views, s.DryRun = []string{fill}, false
	}
	return s
}

// begin plans the first stage. It divides each table into at most n parts, which takes at most
// 4n+32 requests for each table, none if n is 1. It records that a view is being backfilled.
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
	if r.Fill == "" {
		return nil
	}
	r.Kind = filling
	return r.setViewState(ctx, patterns.ViewBuilding, patterns.ViewRetiring)
}

// setViewState records the state of the view that is backfilled. Two requests.
func (r *run) setViewState(ctx context.Context, added, retired string) error {
	if r.store.Views.IsRetired(r.Fill) {
		added = retired
	}
	r.Report.Requests.Fill += 2
	return r.store.SetViewState(ctx, r.Fill, added)
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
		all, ok := s.Sketch.decode()
		s.Sketch = newSketch(s.Differences)
		switch {
		case !ok && s.Depth == maxDepth:
			return fmt.Errorf("rows that differ: %w", azerr.ErrTooLarge)
		case !ok:
			s.Depth, s.Bits = s.Depth+1, 2*s.Bits
			return nil
		}
		if s.Groups, err = groupsOf(all); err != nil || len(s.Groups) > 0 {
			s.Kind, s.Jobs = confirming, (len(s.Groups)+perJob-1)/perJob
			return err
		}
	}
	for ; s.Bits&1 == 1; s.Bits /= 2 { // it is the second half of a class
		s.Depth--
	}
	if s.Bits++; s.Depth > 0 {
		return nil
	}
	s.Kind, s.Jobs = complete, 0
	if s.Fill != "" && ended != finishing && s.Report.Failed == 0 {
		s.Kind, s.Jobs = finishing, 1
	}
	return nil
}

// verifies reports whether a primary is of the class that is being verified.
func (s *state) verifies(primary keys.Key) bool {
	if s.Depth == 0 {
		return true
	}
	h := sha256.Sum256([]byte(primary.Partition + "\x00" + primary.Row))
	return binary.BigEndian.Uint32(h[:])>>(32-s.Depth) == s.Bits
}

// groupsOf returns the rows that differ in groups that are confirmed together.
func groupsOf(all []difference) (groups [][]suspect, err error) {
	type row struct {
		primary keys.Key
		ref     view.RowRef
	}
	stored := map[row]bool{}
	for _, d := range all {
		p, err := view.ParsePart(d.element)
		if err != nil {
			return nil, err
		}
		of := row{p.Primary, view.RowRef{View: p.View, Partition: p.Key.Partition, Row: p.Key.Row}}
		stored[of] = stored[of] || d.sign < 0
	}
	rows := slices.SortedFunc(maps.Keys(stored), func(a, b row) int {
		return cmp.Or(a.primary.Compare(b.primary), cmp.Compare(a.ref.View, b.ref.View), a.ref.Key().Compare(b.ref.Key()))
	})
	for _, of := range rows {
		n := len(groups)
		if n == 0 || len(groups[n-1]) == maxRows || groups[n-1][0].Primary.Partition != of.primary.Partition {
			groups, n = append(groups, nil), n+1
		}
		groups[n-1] = append(groups[n-1], suspect{Primary: of.primary, Ref: of.ref, Stored: stored[of]})
	}
	return groups, nil
}
