package reindex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// plan is the plan of a run, a sequence of stages. The jobs of a stage can be done in any order, by
// any process, and more than once. The next stage follows from their results alone, whichever
// process computes it.
type plan struct {
	Of          string // the views, with their definitions
	Views       []string
	Fill        string // the view to backfill, if any
	Repair      bool
	Parallel    int
	PerSecond   int
	Differences int
	Grace       time.Duration

	Parts      []part   // of all tables, that of the primaries first
	Classes    []class  // that are not verified yet; the last is in progress
	Passes     int      // that were completed
	Unverified []string // views

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

// use sets the options of p.
func (p *plan) use(o *Options) {
	p.Parallel, p.PerSecond, p.Differences, p.Grace = o.Parallel, o.RequestsPerSecond, o.Differences, o.Grace
	if p.Fill == "" {
		p.Views = o.Views
	}
}

// begin plans the first stage. It divides each table into at most n parts, which takes at most
// 4n+32 requests for each table, none if n is 1. It records that a view is being backfilled.
func (r *run) begin(ctx context.Context, n int) error {
	r.Stage, r.Classes, r.Kind = 1, []class{{}}, scanning
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
	if r.store.Views.IsRetired(r.Fill) {
		return r.record(ctx, patterns.ViewRetiring)
	}
	return r.record(ctx, patterns.ViewBuilding)
}

// end records that a view which was backfilled is complete, or that a retired one has no rows.
func (r *run) end(ctx context.Context) error {
	switch {
	case r.Fill == "":
		return nil
	case r.store.Views.IsRetired(r.Fill):
		return r.record(ctx, "")
	}
	return r.record(ctx, patterns.ViewReady)
}

// record records the state of the view, with two requests.
func (r *run) record(ctx context.Context, state string) error {
	r.count(&r.report.Requests.Fill, 2)
	return r.store.SetViewState(ctx, r.Fill, state)
}

// next plans the stage after the present one, whose jobs have these inputs. r.sketch is the sum of
// the sketches of its jobs.
func (r *run) next() (inputs [][]suspect, err error) {
	ended := r.Kind
	r.Stage++
	r.Kind, r.Jobs = scanning, len(r.Parts)
	if ended == scanning {
		r.Passes++
		last := len(r.Classes) - 1
		c := r.Classes[last]
		r.Classes = r.Classes[:last:last]
		all, ok := r.sketch.decode()
		r.sketch = newSketch(r.Differences)
		switch {
		case !ok && c.Depth == maxDepth:
			return nil, fmt.Errorf("rows that differ: %w", azerr.ErrTooLarge)
		case !ok:
			r.Classes = append(r.Classes, class{c.Depth + 1, 2*c.Bits + 1}, class{c.Depth + 1, 2 * c.Bits})
		default:
			if inputs, err = suspects(all); err != nil || len(inputs) > 0 {
				r.Kind, r.Jobs = confirming, len(inputs)
				return inputs, err
			}
		}
	}
	if len(r.Classes) == 0 {
		r.Kind, r.Jobs = complete, 0
	}
	return nil, nil
}

const (
	perJob   = 200 // rows that a job confirms, those of the last primary included
	maxDepth = 24  // of the division into classes
)

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
	for i, s := range rows {
		n := len(jobs) - 1
		if i > 0 && s.Primary == rows[i-1].Primary {
			if last := &jobs[n][len(jobs[n])-1]; last.Ref == s.Ref {
				last.Stored = last.Stored || s.Stored
				continue
			}
		} else if i == 0 || len(jobs[n]) >= perJob {
			jobs = append(jobs, nil)
			n++
		}
		jobs[n] = append(jobs[n], s)
	}
	return jobs, nil
}
