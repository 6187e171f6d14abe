package reindex

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// run is the part that one process has in a run: all of it, or a job.
type run struct {
	plan
	progress
	sketch sketch // of what the jobs of this process have scanned
	report Report

	store      *outbox.Store
	views      map[string]*view.View // to verify
	tables     []*view.Table
	inTable    []map[string]bool // by table, the views that have rows in it
	yield      func(Finding) bool
	found      func(context.Context, []Finding) error // if set, is called before a repair
	checkpoint func(*run) error                       // if set, is called after each step of a job
	began      time.Time
	sent       int // requests of this process
}

// progress is how far a run in one process has come.
type progress struct {
	Job    int         // in progress, of the stage
	Part   part        // what is left of it, or
	Inputs [][]suspect // by job, what is left to confirm
}

// errState is the error of a state that another version or another run has stored.
var errState = azerr.Errorf("%w: a state of another run", patterns.ErrBadCursor)

// newRun checks the plan and sets its defaults. It makes no request.
func newRun(store any, p plan) (*run, error) {
	r := &run{plan: p, store: outbox.EngineOf(store), views: map[string]*view.View{}, began: time.Now()}
	if r.store == nil {
		return nil, fmt.Errorf("store: %w", patterns.ErrNil)
	}
	if err := errors.Join(azerr.Default(&r.Parallel, 8, "Parallel"), azerr.Default(&r.PerSecond, 0, "RequestsPerSecond"),
		azerr.Default(&r.Differences, 4096, "Differences"), azerr.Default(&r.Grace, 0, "Grace")); err != nil {
		return nil, err
	}
	for _, name := range r.Views {
		if _, err := r.store.Views.View(name); err != nil {
			return nil, err
		}
	}
	r.Unverified = nil
	for _, v := range r.store.Views.Views {
		switch {
		case r.Views != nil && !slices.Contains(r.Views, v.Name):
		case !v.Verifiable():
			r.Unverified = append(r.Unverified, v.Name)
		default:
			r.views[v.Name] = v
		}
	}
	of := string(r.store.Views.Listing()) + ";" + strings.Join(slices.Sorted(maps.Keys(r.views)), ",")
	if r.Of != "" && r.Of != of {
		return nil, errState
	}
	r.Of, r.report.Unverified, r.sketch = of, r.Unverified, newSketch(r.Differences)
	return r, nil
}

// cursor is the state of a run in one process.
type cursor struct {
	Plan     plan
	Progress progress
	Sketch   sketch
	Report   Report
}

func (r *run) save() ([]byte, error) {
	return json.Marshal(cursor{r.plan, r.progress, r.sketch, r.report})
}

// resume continues from a cursor of a run with the same views.
func (r *run) resume(state []byte) error {
	var c cursor
	if json.Unmarshal(state, &c) != nil || c.Plan.Of != r.Of || c.Plan.Fill != r.Fill || len(c.Sketch) == 0 || len(c.Sketch)%hashes != 0 {
		return errState
	}
	c.Plan.Repair, c.Plan.Parallel, c.Plan.PerSecond, c.Plan.Grace = r.Repair, r.Parallel, r.PerSecond, r.Grace
	r.plan, r.progress, r.sketch, r.report = c.Plan, c.Progress, c.Sketch, c.Report
	return nil
}

// alone executes all stages that are left.
func (r *run) alone(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if r.Stage == 0 {
		if err := r.begin(ctx, 1); err != nil {
			return err
		}
		r.start(0)
	}
	for r.Kind != complete {
		err := r.do(ctx)
		if r.start(r.Job + 1); err == nil && r.Job == r.Jobs {
			r.Inputs, err = r.next()
			r.start(0)
		}
		if r.report.Passes = r.Passes; err == nil {
			err = r.step(ctx)
		}
		if err != nil {
			return err
		}
	}
	if r.report.Failed > 0 {
		return nil
	}
	return r.end(ctx)
}

// start begins a job of the stage.
func (r *run) start(job int) {
	if r.Job = job; job < r.Jobs && r.Kind != confirming {
		r.Part = r.Parts[job]
	}
}

// do does what is left of the job in progress.
func (r *run) do(ctx context.Context) error {
	switch r.Kind {
	case filling:
		return r.read(ctx, func(rows []fetch.Entry) error { return r.fill(ctx, rows) })
	case scanning:
		return r.read(ctx, func(rows []fetch.Entry) error { r.addRows(rows); return nil })
	}
	return r.confirmAll(ctx)
}

// open finds out which tables the views have, that of the primaries first. If there are
// several clients it makes one request for each, to find out whether two of them are
// clients of one table.
func (r *run) open(ctx context.Context) error {
	r.tables, r.inTable = []*view.Table{{Client: r.store.Table.Client}}, []map[string]bool{{}}
	for _, v := range r.store.Views.Views {
		if r.views[v.Name] == nil {
			continue
		}
		t, _ := r.store.TableOf(v)
		i := slices.IndexFunc(r.tables, func(o *view.Table) bool { return o.Client.Table() == t.Client.Table() })
		if i < 0 {
			unknown := []*view.Table{r.tables[0], t}[min(len(r.tables), 2)-1:]
			for _, o := range unknown {
				r.count(&r.report.Requests.Scan, 1) // of a row that does not exist, to learn the address
				if _, _, err := r.store.ReadRows(ctx, o, view.ReservedRow, []string{view.ReservedRow}); err != nil {
					return err
				}
			}
			at, _ := t.Client.Address()
			i = slices.IndexFunc(r.tables, func(o *view.Table) bool { a, _ := o.Client.Address(); return a == at })
		}
		if i < 0 {
			i = len(r.tables)
			r.tables, r.inTable = append(r.tables, t), append(r.inTable, map[string]bool{})
		}
		r.inTable[i][v.Name] = true
	}
	return nil
}

// count adds requests to a count.
func (r *run) count(of *int, requests int) {
	*of += requests
	r.sent += requests
}

// step is called after each step of a job. It waits until the requests sent so far are
// within the limit.
func (r *run) step(ctx context.Context) error {
	if r.checkpoint != nil {
		if err := r.checkpoint(r); err != nil {
			return err
		}
	}
	if r.PerSecond <= 0 {
		return ctx.Err()
	}
	due := r.began.Add(time.Duration(float64(r.sent) / float64(r.PerSecond) * float64(time.Second)))
	return parallel.Sleep(ctx, time.Until(due))
}

// class is the primaries whose hash begins with Depth bits that are Bits. A run divides a class
// that has more differences than a sketch can hold. A row of a primary is so verified in one
// pass only, whatever it contains.
type class struct {
	Depth int
	Bits  uint32
}

func (c class) has(primary keys.Key) bool {
	if c.Depth == 0 {
		return true
	}
	h := sha256.Sum256([]byte(primary.Partition + "\x00" + primary.Row))
	return binary.BigEndian.Uint32(h[:])>>(32-c.Depth) == c.Bits
}
