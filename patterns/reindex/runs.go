package reindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// Runs are runs that any number of machines share. The methods Verify, Repair and Backfill
// divide the tables into segments and enqueue a [Job] for each. Workers pass the jobs to
// [Runs.Do], which also enqueues those that follow. A table has the state of each run, its
// progress and its findings. Runs is safe for concurrent use.
type Runs struct {
	store    any
	state    *state
	enqueue  func(context.Context, Job) error
	segments int
}

// RunsOptions are the options of [NewRuns]. nil and the zero value mean the defaults.
type RunsOptions struct {
	// Segments is the largest number of segments of each table. Zero means 64. A job that is
	// interrupted begins its segment again. Each job of a scan stores about as much as
	// [Options.Differences] takes.
	Segments int
}

// Job is a message for a worker: a job of a run. Messages may be lost, duplicated and late.
type Job struct {
	Run   string // the id
	Stage int    // of the run, from 1
	Part  int    // of the stage, from 0
}

// NewRuns returns the runs of a store. It makes no request. state is the table for their
// state, which [Runs.Create] creates. enqueue adds a message to a queue, usually by
// eventual.Enqueue. All machines need stores with the same views.
func NewRuns[T any](store *patterns.Store[T], state *aztables.Client, enqueue func(context.Context, Job) error, opts *RunsOptions) (*Runs, error) {
	r := &Runs{store: store, enqueue: enqueue}
	if _, err := newRun(store, plan{}); err != nil {
		return nil, err
	}
	if enqueue == nil {
		return nil, fmt.Errorf("enqueue: %w", patterns.ErrNil)
	}
	if opts != nil {
		r.segments = opts.Segments
	}
	if err := azerr.Default(&r.segments, 64, "Segments"); err != nil {
		return nil, err
	}
	var err error
	r.state, err = newState(state)
	return r, failed("state", err)
}

// Create creates the table for the state, unless it exists. One request.
func (r *Runs) Create(ctx context.Context) error {
	return failed("create", r.state.records.Create(ctx))
}

// Verify starts a run that does what the function of this name does. id names the run, for
// example "2026-01"; do not use an id again. If the run exists the error matches
// [patterns.ErrExists]: a process that failed in Verify calls [Runs.Resume].
//
// Parallel and RequestsPerSecond apply to each job. The Checkpoint and Progress of opts
// are not called, Previous is not used, and a Cursor fails with [patterns.ErrBadCursor].
//
// Up to 4n+32 requests for each table, n being [RunsOptions.Segments], 3 for the state, and
// one message for each segment.
func (r *Runs) Verify(ctx context.Context, id string, opts *Options) error {
	return failed("verify", r.start(ctx, id, plan{}, opts))
}

// Repair starts a run as Verify does.
func (r *Runs) Repair(ctx context.Context, id string, opts *Options) error {
	return failed("repair", r.start(ctx, id, plan{Repair: opts == nil || !opts.DryRun}, opts))
}

// Backfill starts a run as Verify does. Unlike the function of this name it ignores DryRun.
func (r *Runs) Backfill(ctx context.Context, id, view string, opts *Options) error {
	sh := plan{Repair: true, Fill: view, Views: []string{view}}
	return failed("backfill", r.start(ctx, id, sh, opts))
}

func (r *Runs) start(ctx context.Context, id string, p plan, opts *Options) error {
	if opts == nil {
		opts = &Options{}
	}
	if opts.Cursor != nil {
		return fmt.Errorf("cursor of a run on one machine: %w", patterns.ErrBadCursor)
	}
	p.use(opts)
	m, err := r.join(ctx, p)
	if err == nil {
		err = m.begin(ctx, r.segments)
	}
	if err == nil {
		err = r.state.insert(ctx, id, runDocument, document{Plan: &m.plan})
	}
	if err != nil {
		return err
	}
	return r.publish(ctx, id, m.plan)
}

// join takes part in a run, for one job or for the next stage.
func (r *Runs) join(ctx context.Context, p plan) (*run, error) {
	m, err := newRun(r.store, p)
	if err != nil {
		return nil, err
	}
	return m, m.open(ctx)
}

// Do does a job. It returns nil if the job was done before, or if the run was deleted.
// After an error call it again: a worker of package eventual does, if the handler returns
// the error. The same job may be done by several processes concurrently.
//
// Besides the requests of its part of the run, a job takes 4 to 6 requests for the state,
// and those to store a sketch of up to 4 MiB one more. The last job of a stage reads all
// sketches. A finding takes one more.
func (r *Runs) Do(ctx context.Context, job Job) error {
	return failed("job", r.do(ctx, job))
}

func (r *Runs) do(ctx context.Context, job Job) error {
	d, err := r.state.get(ctx, job.Run, runDocument)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p := *d.Plan
	switch {
	case job.Stage < p.Stage && !d.Published: // the process that began the stage may have died
		return r.publish(ctx, job.Run, p)
	case job.Stage != p.Stage || job.Part < 0 || job.Part >= p.Jobs:
		return nil
	}
	done, err := r.state.done(ctx, job)
	if err == nil && !done {
		err = r.work(ctx, p, job)
	}
	if err != nil {
		return err
	}
	return r.advance(ctx, job.Run, p)
}

// work does a job and stores its result.
func (r *Runs) work(ctx context.Context, p plan, job Job) error {
	m, err := r.join(ctx, p)
	if err != nil {
		return err
	}
	m.found = func(ctx context.Context, all []Finding) error { return r.state.addFindings(ctx, job, all) }
	if p.Kind == confirming {
		in, err := r.state.get(ctx, job.Run, inputOf(job))
		if err != nil {
			return err
		}
		m.Inputs = make([][]suspect, p.Jobs)
		m.Inputs[job.Part] = in.Suspects
	}
	m.start(job.Part)
	if err := m.do(ctx); err != nil {
		return err
	}
	var out document
	switch p.Kind {
	case scanning:
		out.Sketch = m.sketch
	case confirming:
		if err := r.count(ctx, p, job, &m.report); err != nil {
			return err
		}
	}
	for _, f := range m.report.Failures {
		out.Failures = append(out.Failures, failure{f.Primary, f.Err.Error()})
	}
	if out.Sketch != nil || out.Failures != nil {
		if err := r.state.insert(ctx, job.Run, outputOf(job), out); err != nil && !errors.Is(err, patterns.ErrExists) {
			return err
		}
	}
	return r.state.setDone(ctx, job, m.report)
}

// count counts the findings that the table has of a job: a process that died may have found,
// and repaired, some of them.
func (r *Runs) count(ctx context.Context, p plan, job Job, report *Report) error {
	total := -report.Repaired
	for k := range kindNames {
		n := report.ofKind(Kind(k))
		total, *n = total+*n, 0
	}
	if report.Repaired = 0; p.Repair {
		report.Repaired = -total // those that were not repaired
	}
	for f, err := range r.state.findings(ctx, job.Run, foundBy(job)) {
		if err != nil {
			return err
		}
		*report.ofKind(f.Kind)++
		if p.Repair {
			report.Repaired++
		}
	}
	return nil
}

// advance begins the next stage if all jobs of the present one are done.
func (r *Runs) advance(ctx context.Context, id string, p plan) error {
	done, _, err := r.state.progress(ctx, id, donePrefix(p.Stage))
	if err != nil || len(done) < p.Jobs || p.Kind == complete {
		return err
	}
	m, err := r.join(ctx, p)
	if err != nil {
		return err
	}
	for part := 0; part < p.Jobs && p.Kind == scanning; part++ {
		d, err := r.state.get(ctx, id, outputOf(Job{Stage: p.Stage, Part: part}))
		if err == nil {
			err = m.sketch.merge(d.Sketch)
		}
		if err != nil {
			return err
		}
	}
	inputs, err := m.next()
	if err != nil {
		return err
	}
	for part, suspects := range inputs {
		err := r.state.insert(ctx, id, inputOf(Job{Stage: m.Stage, Part: part}), document{Suspects: suspects})
		if err != nil && !errors.Is(err, patterns.ErrExists) {
			return err
		}
	}
	if m.Kind == complete {
		_, total, err := r.state.progress(ctx, id, allDone)
		if err == nil && total.Failed == 0 {
			err = m.end(ctx)
		}
		if err != nil {
			return err
		}
	}
	begun, err := r.state.change(ctx, id, p.Stage, document{Plan: &m.plan})
	if err != nil || !begun {
		return err // another process has begun it
	}
	return r.publish(ctx, id, m.plan)
}

// publish enqueues the jobs of a stage that are not done.
func (r *Runs) publish(ctx context.Context, id string, p plan) error {
	done, _, err := r.state.progress(ctx, id, donePrefix(p.Stage))
	if err != nil {
		return err
	}
	for part := range p.Jobs {
		job := Job{id, p.Stage, part}
		if _, ok := done[doneBy(job)]; ok {
			continue
		}
		if err := r.enqueue(ctx, job); err != nil {
			return err
		}
	}
	_, err = r.state.change(ctx, id, p.Stage, document{Plan: &p, Published: true})
	return err
}

// Resume enqueues the jobs of a run that are not done. Call it if messages were lost, or
// were moved to the poison queue, or if the process that started the run has failed to.
// Jobs that are still on the queue are then on it twice, which is harmless. 3 requests,
// and one message for each job.
func (r *Runs) Resume(ctx context.Context, id string) error {
	d, err := r.state.get(ctx, id, runDocument)
	if err == nil && d.Plan.Jobs == 0 {
		return nil
	}
	if err == nil {
		err = r.publish(ctx, id, *d.Plan)
	}
	if err == nil { // all jobs may be done, and the process that did the last have died
		err = r.advance(ctx, id, *d.Plan)
	}
	return failed("resume", err)
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

// Status returns the progress of a run. Its Report has no Estimate; the requests are those of
// the jobs, without those for the state. 2 requests, one more for each further thousand
// jobs, and one for each job with failures until 100 failures were read.
func (r *Runs) Status(ctx context.Context, id string) (Status, error) {
	d, err := r.state.get(ctx, id, runDocument)
	if err != nil {
		return Status{}, failed("status", err)
	}
	done, total, err := r.state.progress(ctx, id, allDone)
	if err != nil {
		return Status{}, failed("status", err)
	}
	s := Status{ID: id, Stage: string(d.Plan.Kind), Jobs: d.Plan.Jobs, Report: total}
	var failing []string
	for name, report := range done {
		if strings.HasPrefix(name, donePrefix(d.Plan.Stage)) {
			s.Done++
		}
		if report.Failed > 0 {
			failing = append(failing, name)
		}
	}
	s.Report.Passes, s.Report.Unverified = d.Plan.Passes, d.Plan.Unverified
	s.Report.Failures, err = r.state.failures(ctx, id, failing)
	return s, failed("status", err)
}

// Findings returns the findings of a run so far, each of them once. One request for each
// thousand.
func (r *Runs) Findings(ctx context.Context, id string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		for f, err := range r.state.findings(ctx, id, foundPrefix) {
			if !yield(f, failed("findings", err)) || err != nil {
				return
			}
		}
	}
}

// Delete removes the state and the findings of a run. Jobs that are still on the queue do
// nothing then; a job in progress may leave a row, which a second Delete removes. One
// request for each thousand rows, one for each hundred, and 2.
func (r *Runs) Delete(ctx context.Context, id string) error {
	return failed("delete", r.state.delete(ctx, id))
}

func marshal(v any) []byte {
	b, _ := json.Marshal(v) // of structs of texts and numbers
	return b
}
