package reindex

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/view"
)

// Shared is the state of a run that several processes share, a sequence of stages. The jobs
// of a stage can be done in any order, by any process, and more than once. The next stage
// follows from their results alone, whichever process computes it.
type Shared struct {
	Of          string // the views, with their definitions
	Views       []string
	Fill        string // the view to backfill, if any
	Repair      bool
	Parallel    int
	PerSecond   int
	Differences int
	Grace       time.Duration

	Parts      []Part   // of all tables, that of the primaries first
	Classes    []class  // that are not verified yet; the last is in progress
	Passes     int      // that were completed
	Unverified []string // views

	Stage int // the number of the stage, from 1
	Kind  StageKind
	Jobs  int // of the stage
}

// StageKind is what the jobs of a stage do.
type StageKind string

const (
	Filling    StageKind = "filling"    // each stores the rows of a view for a part of the primaries
	Scanning   StageKind = "scanning"   // each makes a sketch of a part of the tables
	Confirming StageKind = "confirming" // each confirms some differences and, in a Repair, repairs them
	Complete   StageKind = "complete"
)

const perJob = 200 // primaries whose differences a job confirms

// Member is the part that one process has in a shared run.
type Member struct{ *run }

// Join takes part in a run, for one job or for the next stage. found is called with the
// findings of each primary before they are repaired. Of is checked unless it is empty. One
// request for each table, if the views have several.
func Join(ctx context.Context, s *outbox.Store, sh *Shared, found func(context.Context, []Finding) error) (*Member, error) {
	o := Options{Views: sh.Views, Parallel: sh.Parallel, PerSecond: sh.PerSecond, Differences: sh.Differences, Grace: sh.Grace, Repair: sh.Repair}
	r, err := newRun(s, o, func(Finding) bool { return true })
	if err != nil {
		return nil, err
	}
	if sh.Of != "" && sh.Of != r.state.Of {
		return nil, errState
	}
	r.found = found
	return &Member{r}, r.open(ctx)
}

// Plan completes sh, of which only the options are set, with the first stage. It divides
// each table into at most n parts, and records the state of the view to backfill.
func (m *Member) Plan(ctx context.Context, sh *Shared, n int) (err error) {
	sh.Of, sh.Stage, sh.Classes = m.state.Of, 1, []class{{}}
	sh.Unverified = m.state.Report.Unverified
	if sh.Parts, err = m.divide(ctx, n); err != nil {
		return err
	}
	sh.Kind, sh.Jobs = Scanning, len(sh.Parts)
	if sh.Fill != "" {
		if err := m.begin(ctx, sh.Fill); err != nil {
			return err
		}
		sh.Kind = Filling
		sh.Jobs = slices.IndexFunc(append(slices.Clone(sh.Parts), Part{Table: 1}), func(p Part) bool { return p.Table > 0 })
	}
	return nil
}

// Complete records the state of a view that was backfilled without failures.
func (m *Member) Complete(ctx context.Context, sh *Shared) error {
	if sh.Fill == "" {
		return nil
	}
	return m.end(ctx, sh.Fill)
}

// Do does a job of the stage. input is that of [Member.Next], output is for it.
func (m *Member) Do(ctx context.Context, sh *Shared, job int, input []byte) (output []byte, r Report, err error) {
	switch sh.Kind {
	case Filling:
		p := sh.Parts[job]
		err = m.fillPart(ctx, sh.Fill, &p)
		m.state.Report.Rows = 0 // they are counted when they are scanned
	case Scanning:
		p := sh.Parts[job]
		if err = m.scanPart(ctx, &p, sh.Classes[len(sh.Classes)-1]); err == nil {
			output, err = m.sketch.MarshalBinary()
		}
	case Confirming:
		var all []Difference
		if err = json.Unmarshal(input, &all); err == nil {
			err = m.confirmAll(ctx, all)
		}
	}
	m.state.Report.Unverified = nil
	return output, m.state.Report, err
}

// Next makes sh the state of the next stage, whose jobs have these inputs. output returns what
// a job of the present one has returned.
func (m *Member) Next(sh *Shared, output func(job int) ([]byte, error)) (inputs [][]byte, err error) {
	ended, jobs := sh.Kind, sh.Jobs
	sh.Stage++
	sh.Kind, sh.Jobs = Scanning, len(sh.Parts)
	if ended == Scanning {
		sh.Passes++
		for job := range jobs {
			b, err := output(job)
			if err != nil {
				return nil, err
			}
			var s Sketch
			if err := s.UnmarshalBinary(b); err != nil {
				return nil, err
			}
			if err := m.sketch.Merge(&s); err != nil {
				return nil, err
			}
		}
		all, complete := m.sketch.Decode()
		last := len(sh.Classes) - 1
		if !complete {
			halves, err := sh.Classes[last].halves()
			sh.Classes = append(sh.Classes[:last:last], halves...)
			return nil, err
		}
		sh.Classes = sh.Classes[:last]
		if inputs, err = confirmations(all); err != nil || len(inputs) > 0 {
			sh.Kind, sh.Jobs = Confirming, len(inputs)
			return inputs, err
		}
	}
	if len(sh.Classes) == 0 {
		sh.Kind, sh.Jobs = Complete, 0
	}
	return nil, nil
}

// confirmations divides differences among jobs. Those of one primary are in one job.
func confirmations(all []Difference) (inputs [][]byte, err error) {
	parts := make(map[int]view.Part, len(all))
	order := make([]int, len(all))
	for i, d := range all {
		if parts[i], err = view.ParsePart(d.Element); err != nil {
			return nil, err
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return parts[i].Primary.Compare(parts[j].Primary) })
	var some []Difference
	primaries := 0
	for at, i := range order {
		if at == 0 || parts[i].Primary != parts[order[at-1]].Primary {
			primaries++
		}
		if primaries > perJob {
			input, err := json.Marshal(some)
			if err != nil {
				return nil, err
			}
			inputs, some, primaries = append(inputs, input), nil, 1
		}
		some = append(some, all[i])
	}
	if len(some) > 0 {
		input, err := json.Marshal(some)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// halves divides a class that has more differences than a sketch can hold.
func (c class) halves() ([]class, error) {
	if c.Depth == maxDepth {
		return nil, fmt.Errorf("rows that differ: %w", azerr.ErrTooLarge)
	}
	return []class{{c.Depth + 1, 2*c.Bits + 1}, {c.Depth + 1, 2 * c.Bits}}, nil
}

// Add adds the counts of o.
func (r *Report) Add(o *Report) {
	sum := func(counts ...*int) {
		for i := 0; i < len(counts); i += 2 {
			*counts[i] += *counts[i+1]
		}
	}
	sum(&r.Rows, &o.Rows, &r.Primaries, &o.Primaries, &r.Missing, &o.Missing, &r.Wrong, &o.Wrong, &r.Orphan, &o.Orphan,
		&r.Duplicate, &o.Duplicate, &r.Repaired, &o.Repaired, &r.Failed, &o.Failed, &r.Filled, &o.Filled, &r.Undecided, &o.Undecided)
	a, b := &r.Requests, &o.Requests
	sum(&a.Scan, &b.Scan, &a.Confirm, &b.Confirm, &a.Repair, &b.Repair, &a.Fill, &b.Fill)
	r.Failures = append(r.Failures, o.Failures...)
	r.Failures = r.Failures[:min(len(r.Failures), maxFailures)]
}
