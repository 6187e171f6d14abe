package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// scenario is one call, and what is stored before it.
type scenario struct {
	before func(context.Context, *process) error
	call   func(context.Context, *process) error
}

func scenarios() map[string]scenario {
	ann := func() *hire {
		return &hire{Dept: "Sales", ID: "1", Name: "Ann", Email: "a@x", Badge: "A", Last: "Jones", Age: 30, Head: true}
	}
	bob := func() *hire {
		return &hire{Dept: "Sales", ID: "2", Name: "Bob", Email: "b@x", Badge: "B", Last: "Jones", Age: 40}
	}
	insert := func(hs ...*hire) func(context.Context, *process) error {
		return func(ctx context.Context, p *process) error {
			for _, h := range hs {
				if _, err := p.Insert(ctx, h); err != nil {
					return err
				}
			}
			return nil
		}
	}
	move := func(h *hire) error {
		h.Name, h.Email, h.Badge, h.Last, h.Age, h.Head = "Anna", "anna@x", "AA", "Smith", 31, false
		return nil
	}
	return map[string]scenario{
		"insert into nothing":   {insert(), insert(ann())},
		"insert next to others": {insert(bob()), insert(ann())},
		"put new":               {insert(bob()), func(ctx context.Context, p *process) error { _, err := p.Put(ctx, ann()); return err }},
		"put over": {insert(ann(), bob()), func(ctx context.Context, p *process) error {
			h := ann()
			move(h)
			_, err := p.Put(ctx, h)
			return err
		}},
		"update of every key": {insert(ann(), bob()), func(ctx context.Context, p *process) error {
			_, err := p.Update(ctx, ann().key(), move)
			return err
		}},
		"update of no key": {insert(ann(), bob()), func(ctx context.Context, p *process) error {
			_, err := p.Update(ctx, ann().key(), func(h *hire) error { h.Age++; return nil })
			return err
		}},
		"update to a taken badge": {insert(ann(), bob()), func(ctx context.Context, p *process) error {
			_, err := p.Update(ctx, ann().key(), func(h *hire) error { h.Badge, h.Last = "B", "Smith"; return nil })
			if errors.As(err, new(*patterns.DuplicateError)) {
				return nil
			}
			return fmt.Errorf("not refused: %w", err)
		}},
		"insert with a taken email": {insert(ann(), bob()), func(ctx context.Context, p *process) error {
			_, err := p.Insert(ctx, &hire{Dept: "Sales", ID: "3", Email: "a@x", Badge: "C"})
			if errors.As(err, new(*patterns.DuplicateError)) {
				return nil
			}
			return fmt.Errorf("not refused: %w", err)
		}},
		"batch of inserts": {insert(bob()), func(ctx context.Context, p *process) error {
			carl := &hire{Dept: "Sales", ID: "3", Name: "Ann", Email: "c@x", Badge: "C", Last: "Jones"}
			_, err := p.Batch().Insert(ann()).Insert(carl).Commit(ctx)
			return err
		}},
		"batch of three": {insert(ann(), bob()), func(ctx context.Context, p *process) error {
			carl := &hire{Dept: "Sales", ID: "3", Name: "Ann", Email: "a@x", Badge: "C", Last: "Smith", Head: true}
			_, err := p.Batch().Update(ann().key(), move).Insert(carl).Delete(bob().key()).Commit(ctx)
			return err
		}},
		"batch that swaps": {insert(ann(), bob()), func(ctx context.Context, p *process) error {
			_, err := p.Batch().
				Update(ann().key(), func(h *hire) error { h.Email, h.Head = "b@x", false; return nil }).
				Update(bob().key(), func(h *hire) error { h.Email, h.Head = "a@x", true; return nil }).
				Commit(ctx)
			return err
		}},
		"batch with a taken badge": {insert(ann(), bob()), func(ctx context.Context, p *process) error {
			_, err := p.Batch().
				Insert(&hire{Dept: "Sales", ID: "3", Badge: "C"}).
				Insert(&hire{Dept: "Sales", ID: "4", Badge: "B"}).
				Commit(ctx)
			if errors.As(err, new(*patterns.DuplicateError)) {
				return nil
			}
			return fmt.Errorf("not refused: %w", err)
		}},
		"delete":          {insert(ann(), bob()), func(ctx context.Context, p *process) error { return p.Delete(ctx, ann().key()) }},
		"delete the last": {insert(ann()), func(ctx context.Context, p *process) error { return p.Delete(ctx, ann().key()) }},
	}
}

// A batch of three entities with local and remote rows and lists is killed at each request,
// also while a request is in flight, which arrives later.
func TestACrashOfABatchIsRepaired(t *testing.T) {
	var queue *harness.OutboxQueue // outlives the process; the runs come one after the other
	open := func(account *storagetest.Account) (*cluster, *patterns.Store[hire], error) {
		tables := account.TablesWith(harness.Accelerated())
		c := &cluster{views: everyView, queue: queue, own: tables.NewClient("hires"), other: tables.NewClient("other")}
		s, err := newHires(c.own, patterns.StoreOptions[hire]{Views: allViews(c.other), Outbox: queue, Grace: testGrace})
		return c, s, err
	}
	storagetest.CrashPoints(t,
		func(ctx context.Context, account *storagetest.Account) error {
			queue = &harness.OutboxQueue{}
			for _, name := range []string{"hires", "other"} {
				if _, err := account.Tables().CreateTable(ctx, name, nil); err != nil {
					return err
				}
			}
			_, s, err := open(account)
			if err != nil {
				return err
			}
			hires := people(4)
			if err := insertAll(ctx, s, hires[:2]); err != nil {
				return err
			}
			account.Arm()
			_, err = s.Batch().Insert(hires[2]).Delete(hires[0].key()).
				Update(hires[1].key(), func(h *hire) error { h.Email, h.Badge, h.Last = "e0", "new", "Smith"; return nil }).
				Commit(ctx)
			return err
		},
		func(t *testing.T, account *storagetest.Account) {
			c, s, err := open(account)
			assert.NoError(t, err)
			assert.NoError(t, inPartition(t.Context(), c))
			if queue.Len() == 0 { // a reservation may have been faster than the message, but no transaction
				assert.NoError(t, c.consistent(t.Context()))
				time.Sleep(3 * testGrace)
				report := assert.Must(s.Sweep(t.Context(), nil))(t)
				if len(report.Failures) > 0 || report.Drained > 0 {
					t.Errorf("%+v", report)
				}
			}
			for queue.Len() != 0 {
				time.Sleep(time.Minute)
				assert.NoError(t, queue.Work(t.Context(), s.Handle))
			}
			assert.NoError(t, c.clean(t.Context()))
		})
}

// prepared returns a cluster on which sc is ready to run, and a process that is killed at
// step die.
func prepared(ctx context.Context, sc scenario, follow patterns.Follow, die int, after bool) (*cluster, *process, error) {
	c, err := newCluster(ctx, everyView)
	if err != nil {
		return nil, nil, err
	}
	setup, err := c.start(&process{})
	if err != nil {
		return nil, nil, err
	}
	if err := sc.before(ctx, setup); err != nil {
		return nil, nil, err
	}
	pr := &process{die: die, after: after}
	if c.follow = follow; follow == withFinisher {
		c.follow, pr.finisher = patterns.Immediately, newFinisher(nil)
	}
	pr, err = c.start(pr)
	return c, pr, err
}

// withFinisher means that a Finisher follows.
const withFinisher patterns.Follow = -1

// run carries the call of sc out, and then what is left to the Finisher.
func (sc *scenario) run(ctx context.Context, p *process) error {
	return errors.Join(sc.call(ctx, p), p.close(ctx))
}

func TestACrashAtAnyRequestIsRepaired(t *testing.T) {
	t.Parallel()
	for what, follow := range map[string]patterns.Follow{"immediately": patterns.Immediately, "later": patterns.Later, "with a Finisher": withFinisher} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			crashWriters(t, follow)
		})
	}
}

// crashWriters kills a writer at each of its requests, in every scenario. How many requests a
// refused operation sends depends on the order of the concurrent ones.
func crashWriters(t *testing.T, follow patterns.Follow) {
	points, sample := 0, harness.Sample(t, 3)
	for name, sc := range scenarios() {
		var steps int
		err := inVirtualTime(t, func(ctx context.Context) error {
			c, pr, err := prepared(ctx, sc, follow, 0, false)
			if err != nil {
				return err
			}
			if err := sc.run(ctx, pr); err != nil {
				return err
			}
			steps = pr.steps
			if follow == patterns.Later {
				if err := c.recover(ctx); err != nil {
					return err
				}
			}
			if n := c.queue.Len(); n != 0 {
				return fmt.Errorf("%d messages remain without a crash", n)
			}
			return c.clean(ctx)
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for at, more := 1, true; at <= steps || more; at++ {
			if !sample(at) {
				continue
			}
			more = false
			for _, after := range []bool{false, true} {
				if err := inVirtualTime(t, func(ctx context.Context) error {
					killed, err := crash(ctx, sc, follow, at, after)
					if killed {
						points, more = points+1, true
					}
					return err
				}); err != nil {
					t.Errorf("%s, killed at request %d of %d (after it: %v): %v", name, at, steps, after, err)
				}
			}
		}
	}
	t.Logf("%d crash points", points)
}

func crash(ctx context.Context, sc scenario, follow patterns.Follow, at int, after bool) (killed bool, err error) {
	c, pr, err := prepared(ctx, sc, follow, at, after)
	if err != nil {
		return false, err
	}
	_ = sc.run(ctx, pr)
	killed = pr.Dead()
	if err := inPartition(ctx, c); err != nil {
		return killed, err
	}
	if killed && c.queue.Len() == 0 { // a reservation may have been faster than the message, but no transaction
		if err := c.consistent(ctx); err != nil {
			return killed, err
		}
		time.Sleep(3 * testGrace)
		if err := c.sweep(ctx); err != nil {
			return killed, err
		}
	}
	if err := c.recover(ctx); err != nil {
		return killed, err
	}
	return killed, c.clean(ctx)
}

func TestACrashOfAWorkerAtAnyRequestIsRepaired(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"update of every key", "batch of three"} {
		t.Run(name, func(t *testing.T) { crashWorkers(t, scenarios()[name]) })
	}
}

// crashWorkers kills a worker at each of its requests.
func crashWorkers(t *testing.T, sc scenario) {
	points, sample := 0, harness.Sample(t, 3)
	for at := 1; ; at++ {
		if !sample(at) {
			continue
		}
		var killed bool
		for _, after := range []bool{false, true} {
			points++
			if err := inVirtualTime(t, func(ctx context.Context) (err error) {
				killed, err = crashWorker(ctx, sc, at, after)
				return err
			}); err != nil {
				t.Errorf("worker killed at request %d (after it: %v): %v", at, after, err)
			}
		}
		if !killed {
			break
		}
	}
	t.Logf("%d crash points", points)
}

// crashWorker kills the writer after its transaction, then a worker at the given step;
// another worker completes the operation.
func crashWorker(ctx context.Context, sc scenario, at int, after bool) (killed bool, err error) {
	c, pr, err := prepared(ctx, sc, patterns.Immediately, 0, false)
	if err != nil {
		return false, err
	}
	pr.changed = pr.Kill
	_ = sc.call(ctx, pr)
	time.Sleep(testGrace)
	w, err := c.start(&process{die: at, after: after})
	if err != nil {
		return false, err
	}
	for range 2 * int(testExpiry/time.Minute) {
		if w.Dead() {
			break
		}
		if ok, err := c.queue.WorkOne(ctx, w, workerHides); err != nil && !w.Dead() {
			return false, err
		} else if !ok {
			time.Sleep(time.Minute)
		}
	}
	if err := c.recover(ctx); err != nil {
		return false, err
	}
	return w.Dead(), c.clean(ctx)
}
