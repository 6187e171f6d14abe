package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// Writers change a few entities, or several in one transaction, that compete for a few values, next to workers, sweeps and
// repairs, while requests are lost or arrive late, processes are killed or paused, and their
// clocks are wrong. No two entities ever have the same badge, and what changes in one
// transaction is never torn. In the end, all derived rows are correct, without a sweep, and
// the results for each entity have an order.
func TestEveryRandomScheduleEndsConsistent(t *testing.T) {
	harness.Schedules(t, []string{"all views", "few views", "local views", "a counter", "some views", "two versions", "a view comes and goes", "transactions over several entities", "rows without markers", "left to a worker", "lookups"}, 9, func(ctx context.Context, mode string, s *harness.Schedule) {
		s.DrawFaults(time.Hour - time.Minute)
		r := &storeRun{Schedule: s, watched: s.IntN(4) == 0, skewed: s.IntN(2) == 0, crowd: crowd(s.IntN(3))}
		r.cluster = &cluster{inner: s.Inner, expiry: time.Hour, stamped: s.IntN(2) == 0, guard: s.IntN(2) == 0, plain: s.IntN(4) == 0}
		switch mode {
		case "all views":
			r.views = everyView
		case "few views":
			r.views = fewViews
		case "local views":
			r.views = [][]string{viewsHere, {"byEmail"}}[s.IntN(2)] // the rows of the former stop most late inserts
		case "a counter":
			r.views = []string{"company"}
		case "transactions over several entities":
			r.views, r.crowd = [][]string{everyView, everyView, viewsHere, fewViews}[s.IntN(4)], forGroup
		case "left to a worker":
			r.follow, r.crowd = patterns.Later, crowd(s.IntN(4))
			r.views = [][]string{everyView, everyView, fewViews, viewsHere}[s.IntN(4)]
		case "lookups":
			r.views, r.crowd = [][]string{{"byLookup"}, {"byLookup"}, append(slices.Clone(viewsHere), "byLookup"), withLookups}[s.IntN(4)], []crowd{forAll, forAll, forEntity, forGroup}[s.IntN(4)]
		case "rows without markers":
			layout := [][]string{{unmarked}, {unmarked}, nil}[s.IntN(3)]
			r.views = append(slices.DeleteFunc(slices.Clone(everyView), func(string) bool { return s.IntN(4) == 0 }), layout...)
			r.byHand = layout == nil || s.IntN(2) == 0
			r.watched = r.watched && !r.byHand // a counter does not include these entities yet
		case "two versions":
			r.views, r.added = withLookups, []string{"byEmail", "byName", "lastHere", "lastAll", "department", "company", "byLookup"}[s.IntN(7)]
			r.versions = []version{{}, r.without()}
		case "a view comes and goes":
			r.views, r.added, r.crowd = withLookups, withLookups[s.IntN(len(withLookups))], crowd(s.IntN(2))
		default:
			r.views = slices.DeleteFunc(slices.Clone(everyView), func(string) bool { return s.IntN(2) == 0 })
		}
		if err := r.create(ctx); err != nil {
			s.Failf("create: %w", err)
		}
		if r.added != "" && r.versions == nil {
			r.rollOut(ctx)
		}
		r.run(ctx)
	})
}

// storeRun is one schedule of a Store.
type storeRun struct {
	*harness.Schedule
	*cluster
	harness.History
	watched, skewed bool
	crowd           crowd       // what the writers compete for
	versions        []version   // of the programs that run at the same time, two or nil
	phase           int         // how many pairs of versions have run before
	added           string      // the view that not all versions have
	uncounted       atomic.Bool // the row of a counter was deleted
	byHand          bool        // the first entities were written by hand, with their copies
	wholes          wholes
}

// crowd is what the writers of a schedule compete for.
type crowd int

const (
	forAll    crowd = iota // a few entities with a few values
	forEntity              // they insert and delete one entity
	forBadge               // they assign one badge to two entities, and remove it
	forGroup               // they change three entities, mostly several in one transaction
)

// every entity of a schedule.
var every = []*hire{
	{Dept: "Sales", ID: "0"}, {Dept: "Sales", ID: "1"}, {Dept: "Sales", ID: "2"},
	{Dept: "Marketing", ID: "0"}, {Dept: "Marketing", ID: "1"}, {Dept: "Marketing", ID: "2"},
}

// process starts the process with this number.
func (r *storeRun) process(number int) (*process, *rand.Rand) { return r.startAs(number, nil) }

func (r *storeRun) startAs(number int, f *patterns.Finisher) (*process, *rand.Rand) {
	chance := rand.New(rand.NewPCG(r.Seed, uint64(number)))
	p := &process{Process: r.Process(number), again: int32(chance.IntN(4)) - 1, finisher: f}
	if r.follow == patterns.Later {
		p.now = chance.IntN(3) == 0
	}
	if r.skewed {
		p.Skew = time.Duration(chance.IntN(11)-5) * time.Hour
	}
	if r.versions != nil {
		p.version = r.versions[number/100%2]
	}
	if r.watched && r.added == "" {
		p.changed = func() { r.watch(context.Background()) }
	}
	p, err := r.start(p)
	if err != nil {
		r.Failf("start: %w", err)
	}
	return p, chance
}

// compete runs writers, workers and sweeps at the same time, until the writers end.
func (r *storeRun) compete(ctx context.Context) {
	stop := make(chan struct{})
	var writers, others sync.WaitGroup
	first := 10_000 * r.phase
	for n := range 1 + r.IntN(3) {
		writers.Go(func() { r.write(ctx, first+100*n) })
	}
	for n := range 1 + r.IntN(2) {
		others.Go(func() {
			r.repeat(stop, first+1000+100*n, 20*time.Second, func(p *process, chance *rand.Rand) error { return r.work(ctx, p, chance) })
		})
	}
	if r.IntN(2) == 0 {
		others.Go(func() {
			r.repeat(stop, first+2000, 10*time.Minute, func(p *process, chance *rand.Rand) error { return r.maintain(ctx, p, chance) })
		})
	}
	writers.Wait()
	close(stop)
	others.Wait()
}

// check records a failure of a step without faults.
func (r *storeRun) check(what string, err error) {
	if err != nil {
		r.Failf("%s: %w", what, err)
	}
}

func (r *storeRun) run(ctx context.Context) {
	if r.crowd == forGroup {
		for i, h := range every[:3] {
			hired := *h
			hired.Name, hired.Last, hired.Age, hired.Email = "Ann", "Jones", int32(-i-1), []string{"", "e1", "e2"}[i]
			if p, err := r.start(&process{}); err != nil || r.act(ctx, p, &hired, 0) != nil {
				r.Failf("start: %w", err)
			}
		}
	}
	if r.byHand {
		r.hireByHand(ctx)
	}
	r.compete(ctx)
	r.WaitLate()
	check := r.check
	check("recovery", r.recover(ctx))
	if r.uncounted.Load() || r.added != "" || r.byHand {
		check("repair", r.repairAll(ctx))
		check("recovery from the repair", r.recover(ctx))
	}
	check("before the sweep", errors.Join(r.consistent(ctx), r.checkLookups(ctx, false)))
	time.Sleep(2 * r.expiry)
	check("sweep", r.sweep(ctx))
	check("recovery from the sweep", r.recover(ctx))
	check("in the end", errors.Join(r.clean(ctx), r.checkBadges(ctx)))
	reliable, err := r.start(&process{})
	check("start", err)
	for _, h := range every {
		_, _ = r.get(ctx, reliable, h)
	}
	check("linearizable", r.Check())
}

// write runs the operations of a client, and starts another process if its process is killed.
func (r *storeRun) write(ctx context.Context, number int) {
	p, chance := r.writer(number)
	defer func() { _ = p.close(ctx) }()
	for i := range 1 + chance.IntN(4) {
		time.Sleep(time.Duration(chance.IntN(60)) * time.Second)
		h, kind := r.draw(chance, number+i+1) // no two operations write equal entities
		var other sync.WaitGroup
		if more := rand.New(rand.NewPCG(r.Seed, 1<<33+uint64(number+i))); p.finisher != nil && more.IntN(2) == 0 { // their messages may be put together
			h, kind := r.draw(more, number+i+51)
			other.Go(func() {
				if err := r.act(ctx, p, h, kind); !r.expected(err) && !p.Dead() {
					r.Failf("client %d, next to operation %d: %w", number, i, err)
				}
			})
		}
		act := func() error { return r.act(ctx, p, h, kind) }
		if r.crowd == forAll && chance.IntN(3) == 0 || r.crowd == forGroup && chance.IntN(4) != 0 {
			act = func() error { return r.batch(ctx, p, chance, h) }
		}
		if err := act(); !r.expected(err) && !p.Dead() {
			r.Failf("client %d, operation %d: %w", number, i, err)
		}
		other.Wait()
		if p.Dead() {
			_ = p.close(ctx)
			p, chance = r.writer(number + i + 1)
		}
	}
}

// draw draws an operation.
func (r *storeRun) draw(chance *rand.Rand, age int) (h *hire, kind int) {
	h = drawHire(chance)
	h.Age = int32(age)
	r.keepApart(h)
	kind = chance.IntN(8)
	switch r.crowd {
	case forEntity:
		h.Dept, h.ID = "Sales", "0"
		kind = []int{0, 0, 4, 7}[chance.IntN(4)] // insert, delete
	case forBadge:
		h.Dept, h.ID, h.Name, h.Email = []string{"Sales", "Marketing"}[chance.IntN(2)], "0", "Ann", ""
		h.Badge = []string{"", "b1"}[chance.IntN(2)]
		kind = []int{2, 2, 2, 4}[chance.IntN(4)] // put, delete
	}
	return h, kind
}

// writer starts the process of a writer, half of which have a Finisher.
func (r *storeRun) writer(number int) (*process, *rand.Rand) {
	chance := rand.New(rand.NewPCG(r.Seed, 1<<32+uint64(number))) // so that earlier seeds draw what they drew
	if chance.IntN(2) == 0 {
		return r.process(number)
	}
	return r.startAs(number, newFinisher(&patterns.FinisherOptions{
		MaxHeld: []int{0, 2}[chance.IntN(2)], MaxAge: []time.Duration{0, time.Second}[chance.IntN(2)], Wait: []time.Duration{0, time.Second}[chance.IntN(2)],
	}))
}

// close closes the Finisher of p, if it has one.
func (p *process) close(ctx context.Context) error {
	if p.finisher == nil {
		return nil
	}
	return p.finisher.Close(ctx)
}

// keepApart makes the values of h differ from those of other entities if a version of the
// program does not have all views: it would not keep them unique.
func (r *storeRun) keepApart(h *hire) {
	if r.added == "" {
		return
	}
	h.Head = h.Head && h.ID == "0"
	if h.Email != "" {
		h.Email += h.ID
	}
	if h.Badge != "" && r.added == "byBadge" {
		h.Badge += h.Dept + h.ID
	}
}

// drawHire draws one of a few entities with a few values.
func drawHire(chance *rand.Rand) *hire {
	pick := func(values ...string) string { return values[chance.IntN(len(values))] }
	return &hire{
		Dept: pick("Sales", "Sales", "Sales", "Marketing"), ID: pick("0", "1", "2"), Name: pick("Ann", "Bob"), Last: pick("Jones", "Smith"),
		Email: pick("", "e1", "e2"), Badge: pick("", "b1", "b2"), Head: chance.IntN(4) == 0,
	}
}

// act runs one operation and records its result.
func (r *storeRun) act(ctx context.Context, p *process, h *hire, kind int) error {
	a := harness.Action{Kind: harness.InsertRow, A: fmt.Sprint(h.Age)}
	change := func(now *hire) error {
		a.Saw = fmt.Sprint(now.Age)
		*now = *h
		return nil
	}
	var was patterns.Item[hire]
	if kind >= 5 {
		var err error
		if was, err = r.get(ctx, p, h); err != nil {
			return err
		}
		a.ETag = string(was.ETag)
	}
	began := time.Now()
	ctx, unanswered := harness.CountUnanswered(ctx)
	var item patterns.Item[hire]
	var err error
	switch kind {
	case 0, 1:
		item, err = p.Insert(ctx, h)
	case 2:
		a.Kind = harness.PutRow
		item, err = p.Put(ctx, h)
	case 3:
		a.Kind = harness.UpdateRow
		item, err = p.Update(ctx, h.key(), change)
	case 4:
		a.Kind = harness.Remove
		err = p.Delete(ctx, h.key())
	case 5:
		a.Kind = harness.UpdateRow
		item, err = p.UpdateItem(ctx, was, change)
	case 6:
		a.Kind = harness.ReplaceRow
		item, err = p.PutItem(ctx, was, h)
	default:
		a.Kind = harness.DeleteRow
		err = p.DeleteItem(ctx, was)
	}
	r.record(p, h, began, a, string(item.ETag), err, int(unanswered.Load()))
	return err
}

func (r *storeRun) get(ctx context.Context, p *process, h *hire) (patterns.Item[hire], error) {
	began := time.Now()
	item, err := p.Get(ctx, h.key())
	row := harness.Row{Exists: true, A: fmt.Sprint(item.Value.Age), ETag: string(item.ETag)}
	if errors.Is(err, patterns.ErrNotFound) {
		row = harness.Row{}
	}
	if err == nil || !row.Exists {
		r.Add(h.Dept+h.ID, began, harness.Action{Kind: harness.Read}, harness.Result{Outcome: harness.Applied, Row: row}, 0)
	}
	return item, err
}

// record adds a write to the history. A write with remote rows, and a guarded insert, takes
// effect once at most, because its outbox row identifies it. Without an outbox row, an unanswered insert may be
// carried out again after another client has deleted the entity, and Put, Delete and Repair
// start over after an unknown outcome; their documentation states it.
func (r *storeRun) record(p *process, h *hire, began time.Time, a harness.Action, etag string, err error, unanswered int) {
	res := harness.NeverRan
	switch dup := new(*patterns.DuplicateError); {
	case p.Dead(), errors.Is(err, patterns.ErrOutcomeUnknown):
		res = harness.Unknown
	case err == nil:
		res = harness.Applied
	case errors.As(err, dup), errors.Is(err, patterns.ErrConflict): // of derived rows, or in every try
	case errors.Is(err, patterns.ErrExists):
		res = harness.Exists
	case errors.Is(err, patterns.ErrNotFound):
		res = harness.Missing
	}
	remote := slices.Contains(p.views, "byName") || slices.Contains(p.views, "company") // every operation changes these rows
	again := 0
	switch {
	case res != harness.Applied && res != harness.Unknown:
	case a.Kind == harness.InsertRow && (remote || r.guard):
	case a.Kind == harness.InsertRow, a.Kind == harness.TouchRow, !remote && (a.Kind == harness.PutRow || a.Kind == harness.Remove):
		again = unanswered
	}
	if unanswered > 0 {
		etag = "" // it may be that of a repair meanwhile, which left the content as it was
	}
	r.Log("%s%s %+v: %s %v, %d unanswered", h.Dept, h.ID, *h, a.Kind, err, unanswered)
	r.Add(h.Dept+h.ID, began, a, harness.Result{Outcome: res, Row: harness.Row{ETag: etag}}, again)
}
