package reindex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"github.com/azpatterns/azpatterns/keys"
	"slices"
	"time"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/fetch"
	"github.com/azpatterns/azpatterns/internal/outbox"
	"github.com/azpatterns/azpatterns/internal/parallel"
	"github.com/azpatterns/azpatterns/internal/view"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/query"
)

const (
	defaultParallel    = 8
	defaultDifferences = 4096
	maxDepth           = 24 // of the division into classes
)

// run is a run in progress.
type run struct {
	Options
	store  *outbox.Store
	views  map[string]*view.View // to verify
	tables []*table
	yield  func(Finding) bool
	found  func(context.Context, []Finding) error // if set, is called before a repair

	state  state
	sketch *Sketch
	locks  [64]chan struct{} // of rows that several primaries share, by hash
	began  time.Time
	sent   int // requests of this run
}

// errStopped ends a run because the caller wants no more findings.
var errStopped = azerr.Sentinel("stopped")

// Run verifies the rows of the views of s, and repairs them if o.Repair is set. It calls
// yield with each finding until yield returns false.
func Run(ctx context.Context, s *outbox.Store, o Options, yield func(Finding) bool) (Report, error) {
	r, err := newRun(s, o, yield)
	if err != nil {
		return Report{}, err
	}
	return r.finish(r.verify(ctx))
}

func (r *run) finish(err error) (Report, error) {
	if errors.Is(err, errStopped) {
		err = nil
	}
	return r.state.Report, err
}

// newRun checks the options. It makes no request.
func newRun(s *outbox.Store, o Options, yield func(Finding) bool) (*run, error) {
	r := &run{Options: o, store: s, views: map[string]*view.View{}, yield: yield, began: time.Now()}
	if err := errors.Join(azerr.Default(&r.Parallel, defaultParallel, "Parallel"), azerr.Default(&r.PerSecond, 0, "RequestsPerSecond"),
		azerr.Default(&r.Differences, defaultDifferences, "Differences"), azerr.Default(&r.Grace, 0, "Grace")); err != nil {
		return nil, err
	}
	for _, name := range r.Views {
		if _, err := s.Views.View(name); err != nil {
			return nil, err
		}
	}
	var unverified []string
	for _, v := range s.Views.Views {
		switch {
		case r.Views != nil && !slices.Contains(r.Views, v.Name):
		case !v.Verifiable():
			unverified = append(unverified, v.Name)
		default:
			r.views[v.Name] = v
		}
	}
	for i := range r.locks {
		r.locks[i] = make(chan struct{}, 1)
	}
	err := r.resume()
	r.state.Report.Unverified = unverified
	return r, err
}

// verify scans the tables, once for each class of parts, and confirms what differs.
func (r *run) verify(ctx context.Context) (err error) {
	for err = r.open(ctx); err == nil && len(r.state.Classes) > 0; {
		err = r.pass(ctx)
	}
	return err
}

// open finds out which tables the views have.
func (r *run) open(ctx context.Context) (err error) {
	var views []*view.View
	for _, v := range r.store.Views.Views {
		if r.views[v.Name] != nil {
			views = append(views, v)
		}
	}
	var requests int
	r.tables, requests, err = tables(ctx, r.store, views)
	r.state.Report.Requests.Scan += requests
	return err
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

// pass verifies the last of the classes.
func (r *run) pass(ctx context.Context) error {
	st := &r.state
	last := len(st.Classes) - 1
	c := st.Classes[last]
	if st.Scanning {
		if err := r.scan(ctx, c); err != nil {
			return err
		}
	}
	decoded := r.sketch.clone()
	all, complete := decoded.Decode()
	if !complete {
		halves, err := c.halves()
		if err != nil {
			return err
		}
		st.Classes = append(st.Classes[:last], halves...)
	} else {
		if err := r.confirmAll(ctx, all); err != nil {
			return err
		}
		st.Classes = st.Classes[:last]
	}
	r.restart()
	return r.checkpoint()
}

// scan reads what is left of the parts.
func (r *run) scan(ctx context.Context, c class) error {
	st := &r.state
	if st.Parts == nil {
		st.Parts = make([]Part, len(r.tables))
		for i := range st.Parts {
			st.Parts[i].Table = i
		}
	}
	for len(st.Parts) > 0 {
		if err := r.scanPart(ctx, &st.Parts[0], c); err != nil {
			return err
		}
		st.Parts = st.Parts[1:]
		if st.Scanning = len(st.Parts) > 0; !st.Scanning {
			st.Report.Passes++
		}
		if err := cmp.Or(r.checkpoint(), r.pace(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// scanPart reads what is left of one part. What it adds to the sketch does not depend on other
// parts, so the sum of the sketches of all parts is that of the tables.
func (r *run) scanPart(ctx context.Context, p *Part, c class) error {
	t := r.tables[p.Table]
	return r.read(ctx, t.client, p, c, func(rows []fetch.Entry) error {
		for i := range rows {
			r.addRow(t, &rows[i], c)
		}
		return nil
	})
}

// read calls use for each page of what is left of a part, and counts and records it.
func (r *run) read(ctx context.Context, client *wire.Client, p *Part, c class, use func([]fetch.Entry) error) (err error) {
	fetch.ScanProperties(ctx, client, query.Filter{}, r.scanOptions(), p.Cursor, func(rows []fetch.Entry, page fetch.ScanPage, failed error) bool {
		if err = failed; err == nil {
			err = use(rows)
		}
		if err != nil {
			return false
		}
		r.countPage(p, page, c)
		if page.Cursor != "" {
			err = r.checkpoint()
		}
		if err == nil {
			err = r.pace(ctx)
		}
		return err == nil
	})
	return err
}

// countPage records that the rows of a page were used.
func (r *run) countPage(p *Part, page fetch.ScanPage, c class) {
	report := &r.state.Report
	requests := page.Progress.Requests - p.Progress.Requests
	if c.Depth == 0 { // later passes read the same rows
		report.Rows += page.Progress.Rows - p.Progress.Rows
	}
	report.Requests.Scan += requests
	r.sent += requests
	p.Progress, p.Cursor = page.Progress, page.Cursor
}

// addRow adds what a row implies to the sketch, and subtracts what it contains.
func (r *run) addRow(t *table, e *fetch.Entry, c class) {
	st := &r.state.Report
	stored, err := r.store.Views.StoredParts(e.Key, e.Properties, func(v *view.View) bool { return t.views[v.Name] })
	if err != nil {
		st.fail(e.Key, err)
		return
	}
	for i := range stored {
		r.add(&stored[i], -1, c)
	}
	if !t.primary {
		return
	}
	primary, err := primaryOf(r.store, e)
	if err != nil {
		st.fail(e.Key, err)
	}
	if primary == nil {
		return
	}
	if c.Depth == 0 {
		st.Primaries++
	}
	rows, err := implied(r.store, primary, e.Key)
	if err != nil {
		st.fail(e.Key, err)
		return
	}
	for i := range rows {
		if r.views[rows[i].View.Name] == nil {
			continue
		}
		parts, err := view.ImpliedParts(&rows[i], e.Key)
		if err != nil {
			st.fail(e.Key, err)
			return
		}
		for j := range parts {
			r.add(&parts[j], 1, c)
		}
	}
}

func (r *run) add(p *view.Part, sign int64, c class) {
	if c.has(p.Primary) {
		r.sketch.Add(p.Bytes(), sign)
	}
}

// pace waits until the requests sent so far are within the limit.
func (r *run) pace(ctx context.Context) error {
	if r.PerSecond <= 0 {
		return ctx.Err()
	}
	due := r.began.Add(time.Duration(float64(r.sent) / float64(r.PerSecond) * float64(time.Second)))
	return parallel.Sleep(ctx, time.Until(due))
}
