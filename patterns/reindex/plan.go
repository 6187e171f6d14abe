package reindex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// plan is the plan of a run, a sequence of stages. The jobs of a stage can be done in any order, by
// any process, and more than once. The next stage follows from their results alone, whichever
// process computes it.
type plan struct {
	Options
	Of    string // the views, with their definitions
	Fill  string // the view to backfill, if any
	Parts []part // of all tables, that of the primaries first

	// The primaries that are being verified are those whose hash begins with Depth bits that are
	// Bits. A run divides a class of primaries that has more differences than a sketch can
	// hold. A row of a primary is so verified in one pass only, whatever it contains.
	Depth  int
	Bits   uint32
	Passes int // that were completed

	Stage int // the number of the stage, from 1
	Kind  stage
	Jobs  int // of the stage
}

// stage is what the jobs of a stage do.
type stage string

const (
	filling    stage = "filling"    // each stores the rows of a view for a part of the primaries
	scanning   stage = "scanning"   // each makes a sketch of a part of the tables
	confirming stage = "confirming" // each confirms some differences and, in a Repair, repairs them
	complete   stage = "complete"
)

// part is what is left to read of a table, or of a key range of it. Parts can be read in any
// order and by any process.
type part struct {
	Table    int            // its place among the tables of the run; that of the primaries is the first
	Cursor   string         // of its scan; "" is the whole table
	Progress fetch.Progress // of its scan
}

// planOf returns the plan of a run that has not begun. fill is the view to backfill, if any.
func planOf(fill string, opts *Options) plan {
	p := plan{Fill: fill}
	if opts != nil {
		p.Options = *opts
	}
	if fill != "" {
		p.Views, p.DryRun = []string{fill}, false
	}
	return p
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
	if r.Fill != "" {
		r.Kind = filling
	}
	return r.setViewState(ctx, patterns.ViewBuilding, patterns.ViewRetiring)
}

// end records the state of the view that was backfilled, if any.
func (r *run) end(ctx context.Context) error { return r.setViewState(ctx, patterns.ViewReady, "") }

// setViewState records the state of the view that is backfilled, if any, unless something has
// failed. Two requests.
func (r *run) setViewState(ctx context.Context, added, retired string) error {
	if r.Fill == "" || r.Report.Failed > 0 {
		return nil
	}
	if r.store.Views.IsRetired(r.Fill) {
		added = retired
	}
	r.Report.Requests.Fill += 2
	return r.store.SetViewState(ctx, r.Fill, added)
}

// next plans the stage after the present one, and the inputs of its jobs. r.Sketch is the sum of
// the sketches of the present one.
func (r *run) next() (err error) {
	ended := r.Kind
	r.Stage++
	r.Kind, r.Jobs, r.Inputs = scanning, len(r.Parts), nil
	switch ended {
	case filling:
		return nil
	case scanning:
		r.Passes++
		r.Report.Passes = r.Passes
		all, ok := r.Sketch.decode()
		r.Sketch = newSketch(r.Differences)
		switch {
		case !ok && r.Depth == maxDepth:
			return fmt.Errorf("rows that differ: %w", azerr.ErrTooLarge)
		case !ok:
			r.Depth, r.Bits = r.Depth+1, 2*r.Bits
			return nil
		}
		if r.Inputs, err = suspects(all); err != nil || len(r.Inputs) > 0 {
			r.Kind, r.Jobs = confirming, len(r.Inputs)
			return err
		}
	}
	for ; r.Bits&1 == 1; r.Bits /= 2 { // it is the second half of a class
		r.Depth--
	}
	if r.Bits++; r.Depth > 0 {
		return nil
	}
	r.Kind, r.Jobs = complete, 0
	return nil
}

const (
	perJob   = 200 // rows that a job confirms, those of the last primary included
	maxDepth = 24  // of the division into classes
)

// verifies reports whether a primary is of the class that is being verified.
func (p *plan) verifies(primary keys.Key) bool {
	if p.Depth == 0 {
		return true
	}
	h := sha256.Sum256([]byte(primary.Partition + "\x00" + primary.Row))
	return binary.BigEndian.Uint32(h[:])>>(32-p.Depth) == p.Bits
}

// suspects divides differences among jobs. Those of one primary are in one job.
func suspects(all []difference) (jobs [][]suspect, err error) {
	var rows []suspect
	for _, d := range all {
		p, err := view.ParsePart(d.element)
		if err != nil {
			return nil, err
		}
		ref := view.RowRef{View: p.View, Partition: p.Key.Partition, Row: p.Key.Row}
		rows = append(rows, suspect{Primary: p.Primary, Ref: ref, Stored: d.sign < 0})
	}
	slices.SortFunc(rows, func(a, b suspect) int {
		return cmp.Or(a.Primary.Compare(b.Primary), cmp.Compare(a.Ref.View, b.Ref.View), a.Ref.Key().Compare(b.Ref.Key()))
	})
	for _, some := range consecutive(rows, suspect.samePrimary) {
		if n := len(jobs); n == 0 || len(jobs[n-1]) >= perJob {
			jobs = append(jobs, nil)
		}
		last := &jobs[len(jobs)-1]
		for _, row := range consecutive(some, func(a, b suspect) bool { return a.Ref == b.Ref }) {
			row[0].Stored = row[0].Stored || row[len(row)-1].Stored
			*last = append(*last, row[0])
		}
	}
	return jobs, nil
}

// consecutive divides a list into lists of consecutive elements that are the same for the
// given function.
func consecutive[T any](all []T, same func(a, b T) bool) (lists [][]T) {
	for i, first := 0, 0; i < len(all); i++ {
		if i+1 == len(all) || !same(all[i], all[i+1]) {
			lists, first = append(lists, all[first:i+1:i+1]), i+1
		}
	}
	return lists
}
