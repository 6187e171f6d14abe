package reindex

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// Runs are runs that any number of machines share. The methods Verify, Repair and Backfill
// divide the tables into segments and enqueue a [Job] for each. Workers pass the jobs to
// [Runs.Do], which also enqueues those that follow. A table has the state of each run, its
// progress and its findings. Runs is safe for concurrent use.
type Runs struct {
	store     any
	documents *wideentity.Table[stored]
	enqueue   func(context.Context, Job) error
}

// Job is a message for a worker: a job of a run. Messages may be lost, duplicated and late.
type Job struct {
	Run   string // the id
	Stage int    // of the run, from 1
	Part  int    // of the stage, from 0
}

// NewRuns returns the runs of a store. It makes no request. state is the table for their
// state, which [Runs.Create] creates. Delete it when its runs are of no interest any more. enqueue
// adds a message to a queue, usually by eventual.Enqueue. All machines need stores with the
// same views.
func NewRuns[T any](store *patterns.Store[T], state *aztables.Client, enqueue func(context.Context, Job) error) (*Runs, error) {
	if _, err := newRun(store, plan{}); err != nil {
		return nil, err
	}
	if enqueue == nil {
		return nil, fmt.Errorf("enqueue: %w", patterns.ErrNil)
	}
	documents, err := wideentity.New[stored](state, nil)
	return &Runs{store, documents, enqueue}, failed("state", err)
}

// Create creates the table for the state, unless it exists. One request.
func (r *Runs) Create(ctx context.Context) error {
	return failed("create", r.documents.Create(ctx))
}

// Verify starts a run that does what the function of this name does. id names the run, for
// example "2026-01"; do not use an id again. If the run exists the error matches
// [patterns.ErrExists]: a process that failed in Verify calls [Runs.Resume].
//
// Parallel and RequestsPerSecond apply to each job. The Checkpoint and Progress of opts
// are not called, and a Cursor fails with [patterns.ErrBadCursor].
//
// Up to 4n+32 requests for each table, n being [Options.Segments], 3 for the state, and
// one message for each segment.
func (r *Runs) Verify(ctx context.Context, id string, opts *Options) error {
	p := planOf("", opts)
	p.DryRun = true
	return failed("verify", r.start(ctx, id, p))
}

// Repair starts a run as Verify does.
func (r *Runs) Repair(ctx context.Context, id string, opts *Options) error {
	return failed("repair", r.start(ctx, id, planOf("", opts)))
}

// Backfill starts a run as Verify does.
func (r *Runs) Backfill(ctx context.Context, id, view string, opts *Options) error {
	return failed("backfill", r.start(ctx, id, planOf(view, opts)))
}

func (r *Runs) start(ctx context.Context, id string, p plan) error {
	if p.Cursor != nil {
		return fmt.Errorf("cursor of a run on one machine: %w", patterns.ErrBadCursor)
	}
	m, err := newRun(r.store, p)
	if err == nil {
		err = m.begin(ctx, m.Segments)
	}
	if err == nil {
		err = r.insert(ctx, Job{Run: id}, runDocument, document{Plan: &m.plan, Report: m.Report})
	}
	if err != nil {
		return err
	}
	return r.publish(ctx, id, &m.plan)
}

// Do does a job. It returns nil if the job was done before, or if there is no such run.
// After an error call it again: a worker of package eventual does, if the handler returns
// the error. The same job may be done by several processes concurrently.
//
// Besides the requests of its part of the run, a job takes 4 or 5 requests for the state, and
// two more for each retry after a conflict with another job. Those of a sketch take one more for
// each 4 MiB. The last job of a stage reads all sketches.
func (r *Runs) Do(ctx context.Context, job Job) error {
	return failed("job", r.do(ctx, job))
}

func (r *Runs) do(ctx context.Context, job Job) error {
	d, err := r.get(ctx, Job{Run: job.Run}, runDocument)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	switch p := d.Plan; {
	case job.Stage == 0, job.Stage < p.Stage && !d.Published: // the process that began the stage may have died
		return r.publish(ctx, job.Run, p)
	case job.Stage != p.Stage || job.Part < 0 || job.Part >= p.Jobs:
		return nil
	}
	if !slices.Contains(d.Done, job.Part) {
		if d, err = r.work(ctx, *d.Plan, job); err != nil {
			return err
		}
	}
	if d.Plan.Stage != job.Stage || len(d.Done) < d.Plan.Jobs {
		return nil
	}
	return r.advance(ctx, job.Run, d)
}

// work does a job and stores its outcome. It returns the state of the run after that.
func (r *Runs) work(ctx context.Context, p plan, job Job) (d document, err error) {
	m, err := newRun(r.store, p)
	if err != nil {
		return d, err
	}
	found := false
	m.record = func(ctx context.Context, all []Finding) ([]Finding, error) {
		d := document{Findings: all}
		err := r.insert(ctx, job, outputDocument, d)
		if errors.Is(err, patterns.ErrExists) { // of a process that has died, and may have repaired some
			d, err = r.get(ctx, job, outputDocument)
		}
		found = len(d.Findings) > 0
		return d.Findings, err
	}
	if p.Kind == confirming {
		in, err := r.get(ctx, job, inputDocument)
		if err != nil {
			return d, err
		}
		m.Inputs = make([][]suspect, p.Jobs)
		m.Inputs[job.Part] = in.Suspects
	}
	m.start(job.Part)
	if err = m.do(ctx); err == nil && p.Kind == scanning {
		err = unlessExists(r.insert(ctx, job, outputDocument, document{Sketch: m.Sketch}))
	}
	if err != nil {
		return d, err
	}
	return r.update(ctx, job, func(d *document) {
		if slices.Contains(d.Done, job.Part) {
			return
		}
		d.Done = append(d.Done, job.Part)
		if d.Report.add(&m.Report); found {
			d.Found = append(d.Found, job)
		}
	})
}

// advance begins the stage after one whose jobs are done. d is the state of the run.
func (r *Runs) advance(ctx context.Context, id string, d document) error {
	p := d.Plan
	m, err := newRun(r.store, *p)
	if err != nil {
		return err
	}
	for part := 0; part < p.Jobs && p.Kind == scanning; part++ {
		d, err := r.get(ctx, Job{id, p.Stage, part}, outputDocument)
		if err == nil {
			err = m.Sketch.merge(d.Sketch)
		}
		if err != nil {
			return err
		}
	}
	m.Report = d.Report
	if err = m.next(); err == nil && m.Kind == complete {
		err = m.end(ctx)
	}
	if err != nil {
		return err
	}
	for part, suspects := range m.Inputs {
		if err := unlessExists(r.insert(ctx, Job{id, m.Stage, part}, inputDocument, document{Suspects: suspects})); err != nil {
			return err
		}
	}
	d, err = r.update(ctx, Job{id, p.Stage, 0}, func(d *document) {
		d.Plan, d.Published, d.Done, d.Report = &m.plan, false, nil, m.Report
	})
	if err != nil || d.Published {
		return err // another process has begun it
	}
	return r.publish(ctx, id, d.Plan)
}

// publish enqueues the jobs of a stage.
func (r *Runs) publish(ctx context.Context, id string, p *plan) error {
	for part := range p.Jobs {
		if err := r.enqueue(ctx, Job{id, p.Stage, part}); err != nil {
			return err
		}
	}
	_, err := r.update(ctx, Job{id, p.Stage, 0}, func(d *document) { d.Published = true })
	return err
}

// Resume enqueues the jobs of the present stage of a run again. Call it if messages were lost,
// or were moved to the poison queue, or if the process that started the run has failed to. A
// job that is done does nothing the second time, or begins the next stage. 4 requests, and
// one message for each job.
func (r *Runs) Resume(ctx context.Context, id string) error {
	return failed("resume", r.do(ctx, Job{Run: id}))
}

// Status is the progress of a run.
type Status struct {
	ID string

	// Stage is "filling", "scanning", "confirming" or "complete".
	Stage string

	// Jobs is the number of jobs of the stage, and Done how many of them are done. A run with
	// many differences has several stages that scan.
	Jobs, Done int

	Report Report // of the jobs that are done
}

// String returns the status in one line, without keys.
func (s Status) String() string {
	r := s.Report
	return fmt.Sprintf("%s: %s, %d of %d jobs done; pass %d; %d primaries in %d rows; filled %d; missing %d, wrong %d, orphan %d, duplicate %d, undecided %d; repaired %d, failed %d; %d requests",
		s.ID, s.Stage, s.Done, s.Jobs, r.Passes, r.Primaries, r.Rows, r.Filled, r.Missing, r.Wrong, r.Orphan, r.Duplicate, r.Undecided, r.Repaired, r.Failed, r.Requests.Total())
}

// Status returns the progress of a run. The requests of its Report are those of the jobs,
// without those for the state. One request, and one more for each MiB of the state.
func (r *Runs) Status(ctx context.Context, id string) (Status, error) {
	d, err := r.get(ctx, Job{Run: id}, runDocument)
	if err != nil {
		return Status{}, failed("status", err)
	}
	return Status{id, string(d.Plan.Kind), d.Plan.Jobs, len(d.Done), d.Report}, nil
}

// Findings returns the findings of the jobs of a run that are done, each of them once. One
// request, and one for each job with findings.
func (r *Runs) Findings(ctx context.Context, id string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		run, err := r.get(ctx, Job{Run: id}, runDocument)
		for i := 0; err == nil && i < len(run.Found); i++ {
			var d document
			d, err = r.get(ctx, run.Found[i], outputDocument)
			for _, f := range d.Findings {
				if !yield(f, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(Finding{}, failed("findings", err))
		}
	}
}
