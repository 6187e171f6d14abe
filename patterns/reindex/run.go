package reindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/patterns"
)

// run is the part that one process has in a run: all of it, or a job.
type run struct {
	state
	store  *outbox.Store
	views  map[string]*view.View // to verify
	tables []*view.RemoteTable   // of the views; that of the primaries is the first
	began  time.Time
	before int                      // requests of earlier processes
	rows   map[patterns.RowRef]bool // the Rows of the state

	// record records the findings of a job before they are repaired. It returns those that count:
	// another process may have recorded its own.
	record func(context.Context, []Finding) ([]Finding, error)
}

// errState is the error of a state that another version or another run has stored.
var errState = azerr.Errorf("%w: a state of another run", patterns.ErrBadCursor)

// newRun checks a state, and sets the defaults of its options. It makes no request.
func newRun(store any, s state) (*run, error) {
	r := &run{state: s, views: map[string]*view.View{}, began: time.Now()}
	if s, ok := store.(interface{ Engine() *outbox.Store }); ok {
		r.store = s.Engine()
	}
	if r.store == nil {
		return nil, fmt.Errorf("store: %w", patterns.ErrNil)
	}
	if err := errors.Join(azerr.Default(&r.Parallel, 8, "Parallel"), azerr.Default(&r.RequestsPerSecond, 0, "RequestsPerSecond"),
		azerr.Default(&r.Differences, 4096, "Differences"), azerr.Default(&r.Grace, 0, "Grace"), azerr.Default(&r.Segments, 64, "Segments")); err != nil {
		return nil, err
	}
	if r.Differences > maxDifferences {
		return nil, azerr.Errorf("%w: Options.Differences: more than %d", azerr.ErrBadOption, maxDifferences)
	}
	for _, name := range r.Views {
		if _, err := r.store.Views.View(name); err != nil {
			return nil, err
		}
	}
	if r.Strict {
		r.store = r.store.Exact()
	}
	r.tables, r.Report.Unverified = []*view.RemoteTable{{Client: r.store.Table.Client}}, nil
	for _, v := range r.store.Views.Views {
		switch {
		case r.Views != nil && !slices.Contains(r.Views, v.Name):
		case !v.Verifiable():
			r.Report.Unverified = append(r.Report.Unverified, v.Name)
		default:
			r.views[v.Name] = v
			if t, _ := r.store.TableOf(v); r.tableOf(v) < 0 {
				r.tables = append(r.tables, t)
			}
		}
	}
	of := string(r.store.Views.Listing()) + ";" + strings.Join(slices.Sorted(maps.Keys(r.views)), ",") + ";" + r.Fill
	if r.Strict {
		of += ";strict"
	}
	switch {
	case r.Of == "":
		r.Of, r.Sketch = of, newSketch(r.Differences)
	case r.Of != of || len(r.Sketch) != sizeFor(r.Differences) || !r.validState() || !r.Loose.valid(len(r.Sketch)):
		return nil, errState
	}
	r.before = r.sent()
	return r, nil
}

// tableOf returns the place of the table of a view among the tables.
func (r *run) tableOf(v *view.View) int {
	t, _ := r.store.TableOf(v)
	return slices.IndexFunc(r.tables, func(o *view.RemoteTable) bool { return o.Client.Table() == t.Client.Table() })
}

// runAlone executes a run in this process, or what is left of it.
func runAlone(ctx context.Context, op string, store any, cursor string, s state, yield func(Finding, error) bool) (Report, error) {
	if opts := s.Options; cursor != "" {
		var saved state
		if json.Unmarshal([]byte(cursor), &saved) != nil || saved.Of == "" {
			return Report{}, failed(op, errState)
		}
		opts.Differences = saved.Differences
		saved.Options, saved.Fill = opts, s.Fill
		s = saved
	}
	r, err := newRun(store, s)
	if err != nil {
		return Report{}, failed(op, err)
	}
	r.record = func(_ context.Context, all []Finding) ([]Finding, error) {
		for _, f := range all {
			if yield != nil && !yield(f, nil) {
				return nil, errStopped
			}
		}
		return all, nil
	}
	if r.Stage == 0 {
		if err = r.begin(ctx, 1); err == nil && r.Kind == filling {
			err = r.recordBegin(ctx)
		}
	}
	for err == nil && r.Kind != complete {
		if err = r.do(ctx, len(r.Done)); err == nil {
			err = r.finish(len(r.Done))
		}
		if err == nil {
			err = r.step(ctx)
		}
	}
	switch {
	case err == errStopped:
		err = nil
	case err == nil && op == "verify":
		err = r.unread()
	}
	return r.Report, failed(op, err)
}

// unread returns an error if something could not be checked, which the findings do not show.
func (r *run) unread() error {
	if r.Unread == 0 || len(r.Report.Failures) == 0 {
		return nil
	}
	var duplicate *patterns.DuplicateError
	first := errors.New(r.Report.Failures[0].Text) // of a process that has not left its error
	if r.Cause != nil {
		first = r.Cause
	}
	for _, f := range slices.Backward(r.Report.Failures) {
		if f.Err != nil && !errors.As(f.Err, &duplicate) {
			first = f.Err
		}
	}
	return fmt.Errorf("%d of the entities and rows could not be checked, the first because of: %w", r.Unread, first)
}

// do does what is left of a job of the stage.
func (r *run) do(ctx context.Context, job int) error {
	if err := r.own(ctx); err != nil {
		return err
	}
	switch r.Kind {
	case filling:
		return r.read(ctx, job, r.fill)
	case scanning:
		return r.read(ctx, job, r.addRows)
	case confirming:
		first := job * perJob
		return r.confirmAll(ctx, r.Groups[first:min(first+perJob, len(r.Groups))])
	}
	return r.recordEnd(ctx)
}

// own fails if the views are those of another table's primaries.
func (r *run) own(ctx context.Context) error {
	n, err := r.store.Own(ctx, false)
	r.Report.Requests.Owners += n
	return err
}

// result is what became of some primaries.
type result struct {
	Report
	unread int
	sure   []outbox.Checked // rows that differ
}

// each calls do for 0 to n-1, concurrently, and returns the results in order.
func (r *run) each(ctx context.Context, n int, do func(ctx context.Context, i int, res *result) error) (all []result, err error) {
	var mu sync.Mutex
	all = make([]result, n)
	return all, calls.Each(ctx, n, r.Parallel, func(ctx context.Context, i int) error {
		err := do(ctx, i, &all[i])
		mu.Lock()
		r.Report.add(&all[i].Report)
		r.Unread += all[i].unread
		due := r.due()
		mu.Unlock()
		if err != nil {
			return err
		}
		return calls.Sleep(ctx, time.Until(due))
	})
}

// step is called after each step of a job.
func (r *run) step(ctx context.Context) error {
	if r.Options.Report != nil {
		*r.Options.Report = r.Report
	}
	if n := &r.Report; r.Progress != nil {
		r.Progress(patterns.Progress{Found: n.Rows, Done: n.Repaired + n.Filled, Skipped: n.Undecided, Failed: n.Failed, Requests: r.sent()})
	}
	if r.Checkpoint != nil {
		if err := r.Checkpoint(func() (string, error) {
			text, err := json.Marshal(r.state)
			return string(text), err
		}); err != nil {
			return err
		}
	}
	return calls.Sleep(ctx, time.Until(r.due()))
}

// due is when the requests sent so far are within the limit.
func (r *run) due() time.Time {
	if r.RequestsPerSecond <= 0 {
		return r.began
	}
	return r.began.Add(time.Duration(float64(r.sent()-r.before) / float64(r.RequestsPerSecond) * float64(time.Second)))
}

// sent is the number of requests of the run, those that a dry run predicts not included.
func (r *run) sent() int {
	q := r.Report.Requests
	if r.DryRun {
		q.Repair = 0
	}
	return q.Total()
}
