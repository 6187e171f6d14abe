package reindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// Runs are runs that any number of machines share. The methods Verify, Repair and Backfill
// divide the tables into segments and enqueue a [Job] for each. Workers pass the jobs to
// [Runs.Do], which also enqueues those that follow. A table has the state of each run, its
// progress and its findings. Runs is safe for concurrent use.
type Runs struct {
	store     any
	documents *wideentity.Table[document]
	enqueue   func(context.Context, Job) error
}

// Job is a message for a worker: a job of a run. Messages may be lost, duplicated and late.
type Job struct {
	Run   string // the id
	Stage int    // of the run, from 1
	Part  int    // of the stage, from 0
}

// document is what the table has of a run, which is a partition: its state and, of each job, its
// findings. Findings are inserted before they are repaired, and never changed. So it does not
// matter how often, and by how many processes, a job is done.
type document struct {
	PartitionKey, RowKey string
	State                *state    `table:",json"`
	Findings             []Finding `table:",json"`
}

func documentAt(key keys.Key, s *state) *document {
	return &document{PartitionKey: key.Partition, RowKey: key.Row, State: s}
}

func runKey(id string) keys.Key { return keys.Key{Partition: id, Row: "run"} }

func (j Job) findings() keys.Key {
	return keys.Key{Partition: j.Run, Row: fmt.Sprintf("found-%06d-%06d", j.Stage, j.Part)}
}

// RunsOptions are the options of [NewRuns]. nil and the zero value mean the defaults.
type RunsOptions struct {
	// Enqueue adds a message to a queue, usually by eventual.Enqueue. nil calls [Runs.Do] instead:
	// the method that starts or resumes a run then returns when the run is complete.
	Enqueue func(ctx context.Context, job Job) error
}

// NewRuns returns the runs of a store. It makes no request. table is for their
// state, which [Runs.Create] creates. Delete it when its runs are of no interest any more. All
// machines need stores with the same views.
func NewRuns[T any](store *patterns.Store[T], table *aztables.Client, opts *RunsOptions) (*Runs, error) {
	if _, err := newRun(store, state{}); err != nil {
		return nil, err
	}
	documents, err := wideentity.New[document](table, nil)
	if err != nil {
		return nil, failed("state", err)
	}
	r := &Runs{store, documents, cmp.Or(opts, &RunsOptions{}).Enqueue}
	if r.enqueue == nil {
		r.enqueue = r.Do
	}
	return r, nil
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
// are not called.
//
// Up to 4n+32 requests for each table, n being [Options.Segments], 3 for the state, and
// one message for each segment.
func (r *Runs) Verify(ctx context.Context, id string, opts *Options) error {
	return failed("verify", r.start(ctx, id, newState(opts, true, "")))
}

// Repair starts a run as Verify does.
func (r *Runs) Repair(ctx context.Context, id string, opts *Options) error {
	return failed("repair", r.start(ctx, id, newState(opts, false, "")))
}

// Backfill starts a run as Verify does. It fails as [patterns.Store.SetViewState] does. A run that is
// refused, also because the run exists, changes nothing. Three more requests.
func (r *Runs) Backfill(ctx context.Context, id, view string, opts *Options) error {
	return failed("backfill", r.start(ctx, id, newState(opts, false, view)))
}

func (r *Runs) start(ctx context.Context, id string, s state) error {
	m, err := newRun(r.store, s)
	if err == nil {
		err = m.begin(ctx, m.Segments)
	}
	if err == nil && m.Kind == filling {
		err = m.mayBegin(ctx)
	}
	if err == nil {
		_, err = r.documents.Insert(ctx, documentAt(runKey(id), &m.state))
	}
	if err != nil {
		return err
	}
	return r.publish(ctx, id, &m.state)
}

// Do does a job. It returns nil if the job was done before, or if there is no such run.
// After an error call it again: a worker of package eventual does, if the handler returns
// the error. The same job may be done by several processes concurrently.
//
// Besides the requests of its part of the run, a job takes 3 requests for the state, one more for
// its findings, and two more for each retry after a conflict with another job. The last job of a
// stage takes two more, and one message for each job of the next stage. A state of several MiB
// takes more requests, see [wideentity.Table].
func (r *Runs) Do(ctx context.Context, job Job) error {
	return failed("job", r.do(ctx, job))
}

// state reads the state of a run.
func (r *Runs) state(ctx context.Context, id string) (*state, error) {
	d, err := r.documents.Get(ctx, runKey(id))
	if err == nil && (d.Value.State == nil || d.Value.State.Of == "") {
		err = errState
	}
	return d.Value.State, err
}

func (r *Runs) do(ctx context.Context, job Job) error {
	s, err := r.state(ctx, job.Run)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case job.Stage == 0, job.Stage < s.Stage && !s.Published: // the process that began the stage may have died
		return r.publish(ctx, job.Run, s)
	case job.Stage != s.Stage || job.Part < 0 || job.Part >= s.Jobs || slices.Contains(s.Done, job.Part):
		return nil
	}
	m, err := newRun(r.store, *s)
	if err != nil {
		return err
	}
	m.Sketch, m.Loose, m.Report = newSketch(m.Differences), loose{}, Report{}
	found := *documentAt(job.findings(), nil)
	m.record = func(ctx context.Context, all []Finding) ([]Finding, error) {
		found.Findings = all
		_, err := r.documents.Insert(ctx, &found)
		if errors.Is(err, patterns.ErrExists) { // of a process that has died, and may have repaired some
			d, failed := r.documents.Get(ctx, job.findings())
			if found, err = d.Value, failed; err == nil && !m.validFindings(found.Findings) {
				err = errState
			}
		}
		return found.Findings, err
	}
	if err = m.do(ctx, job.Part); err != nil {
		return err
	}
	s, err = r.update(ctx, job, func(s *state) error {
		s.Sketch.merge(m.Sketch)
		s.Loose.merge(&m.Loose)
		s.Report.add(&m.Report)
		s.Began = earliest(s.Began, m.Began)
		if len(found.Findings) > 0 {
			s.Found = append(s.Found, job)
		}
		return s.finish(job.Part)
	})
	if err != nil || s.Stage == job.Stage || s.Published {
		return err
	}
	return r.publish(ctx, job.Run, s)
}

// update changes the state of a run, unless the job is done, and returns it.
func (r *Runs) update(ctx context.Context, job Job, change func(*state) error) (s *state, err error) {
	_, err = r.documents.Update(ctx, runKey(job.Run), func(d *document) error {
		if s = d.State; s == nil {
			return errState
		}
		if s.Stage != job.Stage || slices.Contains(s.Done, job.Part) {
			return nil
		}
		return change(s)
	})
	return s, err
}

// publish enqueues the jobs of a stage. Before those that fill a view it records that: a run that
// was refused, because its id was used before, must not have changed the state of the view.
func (r *Runs) publish(ctx context.Context, id string, s *state) error {
	if s.Jobs != s.jobs() {
		return errState
	}
	if s.Kind == filling {
		m, err := newRun(r.store, *s)
		if err == nil {
			err = m.recordBegin(ctx)
		}
		if err != nil {
			return err
		}
	}
	for part := range s.Jobs {
		if err := r.enqueue(ctx, Job{id, s.Stage, part}); err != nil {
			return err
		}
	}
	_, err := r.update(ctx, Job{id, s.Stage, -1}, func(s *state) error {
		s.Published = true
		return nil
	})
	return err
}

// Resume enqueues the jobs of the present stage of a run again. Call it if messages were lost,
// or were moved to the poison queue, or if the process that started the run has failed to. A
// job that is done does nothing the second time. 3 requests, up to 2 more if the run fills a view,
// and one message for each job.
func (r *Runs) Resume(ctx context.Context, id string) error {
	return failed("resume", r.do(ctx, Job{Run: id}))
}

// Status is the progress of a run.
type Status struct {
	ID string

	// Stage is "filling", "scanning", "confirming", "finishing" or "complete".
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
	s, err := r.state(ctx, id)
	if err != nil {
		return Status{}, failed("status", err)
	}
	return Status{id, string(s.Kind), s.Jobs, len(s.Done), s.Report}, nil
}

// Findings returns the findings of the jobs of a run that are done, each of them once. The
// requests of Status, and one for each job with findings.
func (r *Runs) Findings(ctx context.Context, id string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		var jobs []Job
		s, err := r.state(ctx, id)
		if err == nil {
			jobs = s.Found
		}
		for i := 0; err == nil && i < len(jobs); i++ {
			if jobs[i].Run != id {
				err = errState
				break
			}
			var d wideentity.Item[document]
			d, err = r.documents.Get(ctx, jobs[i].findings())
			for _, f := range d.Value.Findings {
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
