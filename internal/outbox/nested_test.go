package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// The rows of jones with either badge, and one of rival.
func namedRows() []patterns.RowRef {
	row := func(view, partition, row string) patterns.RowRef {
		return patterns.RowRef{View: view, Partition: partition, Row: row}
	}
	return []patterns.RowRef{
		row("byBadge", "badge", "B7"), row("byBadge", "badge", "B8"), row("byEmail", "Sales", "email_"+jones().Email),
		row("byName", "name_Ann Jones", "Sales_000223"), row("lastAll", "lastnames", "Jones"),
	}
}

// moved is jones in another partition.
func moved() *hire {
	h := jones()
	h.Dept = "Marketing"
	return h
}

func (r *race) remove(p *process, key keys.Key) error {
	err := p.Delete(r.ctx, key)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	return err
}

// actions are what one process does while another one is about to send a request.
var actions = map[string]func(r *race, p *process) error{
	"insert": func(r *race, p *process) error { _, err := p.Insert(r.ctx, withBadge("B7")); return err },
	"put":    func(r *race, p *process) error { _, err := p.Put(r.ctx, withBadge("B8")); return err },
	"swap badges": func(r *race, p *process) error {
		return errors.Join(p.setBadge(r.ctx, "B8"), p.setBadge(r.ctx, "B7"))
	},
	"release badge": func(r *race, p *process) error { return p.setBadge(r.ctx, "") },
	"delete":        func(r *race, p *process) error { return r.remove(p, jones().key()) },
	"move": func(r *race, p *process) error {
		err := r.remove(p, jones().key())
		if err == nil {
			_, err = p.Insert(r.ctx, moved())
		}
		return err
	},
	"repair":       func(r *race, p *process) error { return p.Repair(r.ctx, jones().key()) },
	"repair rows":  func(r *race, p *process) error { return p.Repair(r.ctx, jones().key(), namedRows()...) },
	"insert rival": func(r *race, p *process) error { _, err := p.Insert(r.ctx, rival()); return err },
	"delete rival": func(r *race, p *process) error { return r.remove(p, rival().key()) },
	"repair rival": func(r *race, p *process) error { return p.Repair(r.ctx, rival().key(), namedRows()[:1]...) },
	"handle":       func(r *race, p *process) error { return r.queue.Work(r.ctx, p.Handle) },
	"sweep": func(r *race, p *process) error {
		time.Sleep(3 * testGrace)
		report, err := p.Sweep(r.ctx, nil)
		for _, f := range report.Failures {
			err = errors.Join(err, f.Err)
		}
		return err
	},
}

// states are what is stored before.
var states = map[string]func(r *race, p *process){
	"nothing": func(*race, *process) {},
	"jones":   func(r *race, p *process) { _, err := p.Insert(r.ctx, withBadge("B7")); r.must(err) },
	"a reservation without a message": func(r *race, p *process) {
		_, err := p.Insert(r.ctx, withBadge("B8"))
		r.must(err)
		r.killedBetween("POST", "/queue", func(p *process) { _ = p.setBadge(r.ctx, "B7") })
	},
	"a change without a drain": func(r *race, p *process) {
		_, err := p.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		dies := r.process()
		dies.changed = dies.Kill
		_ = dies.setBadge(r.ctx, "B8")
	},
	"missing rows": func(r *race, p *process) {
		_, err := p.Insert(r.ctx, withBadge("B7"))
		r.must(err)
		for _, ref := range namedRows()[2:] {
			table := r.other
			if ref.Partition == "Sales" {
				table = r.own
			}
			_, err := table.DeleteEntity(r.ctx, ref.Partition, ref.Row, nil)
			r.must(err)
		}
	},
}

// acceptable reports whether an action may return err next to another one.
func acceptable(err error) bool {
	for _, e := range []error{patterns.ErrExists, patterns.ErrNotFound, patterns.ErrConflict} {
		if errors.Is(err, e) {
			return true
		}
	}
	return err == nil
}

// Immediately before each request of one process another process does something. No two
// entities have one badge, and in the end all rows are correct.
func TestAnyActionBeforeAnyRequestOfAnother(t *testing.T) {
	t.Parallel()
	for state, prepare := range states {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			points, sample := 0, harness.Sample(t, 3)
			for _, a := range []string{"put", "repair rows"} {
				for b, second := range actions {
					for at, missed := 1, 0; missed < 2; at++ { // with Later there are fewer requests
						if !sample(at) {
							continue
						}
						points++
						follow, kill := patterns.Follow(at%2), at/2%2 == 1
						if err := inVirtualTime(t, func(ctx context.Context) error {
							met, err := nested(ctx, follow, prepare, actions[a], second, at, kill, state == "missing rows")
							if missed++; met {
								missed = 0
							}
							return err
						}); err != nil {
							t.Errorf("%s, before request %d of %s, follow %d, killed %v: %v", b, at, a, follow, kill, err)
						}
					}
				}
			}
			t.Logf("%d points", points)
		})
	}
}

func nested(ctx context.Context, follow patterns.Follow, prepare func(*race, *process), first, second func(*race, *process) error, at int, kill, damaged bool) (met bool, err error) {
	c, err := newCluster(ctx, fewViews)
	if err != nil {
		return false, err
	}
	r := &race{cluster: c, ctx: ctx}
	prepare(r, r.process())
	c.follow = follow
	p, other := r.process(), r.process()
	other.now = true
	other, err = c.start(other)
	r.must(err)
	var n, done atomic.Int32
	p.sending = func(string, string) {
		if n.Add(1) == int32(at) {
			if err := second(r, other); !acceptable(err) {
				r.must(fmt.Errorf("the second: %w", err))
			}
			done.Store(1)
			if kill {
				p.Kill()
			}
		}
	}
	if err := first(r, p); !acceptable(err) && !p.Dead() {
		r.must(fmt.Errorf("the first: %w", err))
	}
	r.must(c.checkBadges(ctx))
	r.must(c.recover(ctx))
	r.must(c.checkBadges(ctx))
	if damaged {
		if err := r.process().Repair(ctx, jones().key()); !errors.Is(err, patterns.ErrNotFound) {
			r.must(err)
		}
		r.must(c.recover(ctx))
	}
	r.must(c.consistent(ctx))
	time.Sleep(3 * testGrace)
	r.must(c.sweep(ctx))
	r.must(c.recover(ctx))
	r.must(c.clean(ctx))
	return done.Load() == 1, errors.Join(r.errs...)
}
