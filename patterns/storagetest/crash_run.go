package storagetest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// crash is one point at which a process may die.
type crash struct {
	at    int // the call, counted from 1
	after bool
	op    string // of that call in the undisturbed run; "" for a later call
}

func (c crash) String() string {
	when := "before"
	if c.after {
		when = "after"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", when, c.at, c.op))
}

// crashTest is a call of CrashPoints.
type crashTest struct {
	account  Options
	recover  func(context.Context, *Account) error
	scenario func(context.Context, *Account) error
	check    func(*testing.T, *Account)
	arms     bool // the scenario calls Arm
}

// outcome is the result of one run.
type outcome struct {
	calls  []string // of the last process that was not killed, which may be killed next
	died   bool     // at the last point of the plan
	passed bool
}

// explore runs the processes that die according to the plan, and the one that then
// survives. It continues with plans in which that process dies at each of its calls.
func (c *crashTest) explore(t *testing.T, plan []crash) outcome {
	deeper := len(plan) == 0 || len(plan) == 1 && c.recover != nil
	o := c.subtest(t, plan, deeper)
	if !deeper || !o.passed || len(plan) > 0 && !o.died {
		return o
	}
	if len(plan) == 0 && len(o.calls) == 0 {
		t.Error("the scenario made no storage call that could be a crash point")
		return o
	}
	for i := 1; ; i++ {
		next := crash{at: i}
		if i <= len(o.calls) {
			next.op = o.calls[i-1]
		}
		if before := c.explore(t, append(plan[:len(plan):len(plan)], next)); !before.died && i > len(o.calls) {
			return o
		}
		next.after = true
		c.explore(t, append(plan[:len(plan):len(plan)], next))
	}
}

// subtest runs the plan as a subtest. If go test -run has not selected it and counted is
// true, it runs the plan nevertheless, without a check and without reports, because its
// calls determine further subtests.
func (c *crashTest) subtest(t *testing.T, plan []crash, counted bool) (o outcome) {
	name := "undisturbed"
	for i, p := range plan {
		if i == 0 {
			name = p.String()
		} else {
			name += ", then " + p.String()
		}
	}
	picked := false
	o.passed = t.Run(name, func(t *testing.T) {
		picked = true
		synctest.Test(t, func(t *testing.T) {
			if acct := c.run(t, plan, &o); !t.Failed() {
				c.check(t, acct)
			}
		})
	})
	if !picked && counted {
		synctest.Test(t, func(t *testing.T) { c.run(quiet{t}, plan, &o) })
	}
	return o
}

// quiet is a test that ignores errors.
type quiet struct{ testing.TB }

func (quiet) Errorf(string, ...any) {}

// run runs all processes on one account, which it returns for check.
func (c *crashTest) run(t testing.TB, plan []crash, o *outcome) *Account {
	var story strings.Builder
	acct := Start(&c.account)
	acct.t = t
	next := func(title string, p *process) *process {
		p.acct = acct
		p.live(t)
		if p.died.Load() {
			title += ", killed " + p.at.String()
		}
		fmt.Fprintf(&story, "%s:\n%v", title, acct.Log())
		if p.err != nil && !p.died.Load() {
			t.Errorf("%s, which was not killed: %v", title, p.err)
		}
		acct = acct.restarted()
		return p
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("storagetest: seed %d\n%scheck:\n%v", c.account.Seed, story.String(), acct.Log())
		}
	})
	point := func(i int) *crash {
		if i < len(plan) {
			return &plan[i]
		}
		return nil
	}
	first := next("the scenario", &process{do: c.scenario, at: point(0), arms: c.arms})
	c.arms = c.arms || first.acct.arms
	o.died, o.calls = first.died.Load(), first.calls()
	if c.recover != nil {
		if len(plan) == 2 {
			o.died = next("the process that recovers", &process{do: c.recover, at: point(1)}).died.Load()
		}
		if last := next("the last process that recovers", &process{do: c.recover}); len(plan) > 0 {
			o.calls = last.calls()
		}
	}
	return acct
}

// process is one process.
type process struct {
	acct *Account
	do   func(context.Context, *Account) error
	at   *crash // when it dies; nil: never
	arms bool   // its calls are crash points only after Arm
	died atomic.Bool
	err  error
}

var errGone = errors.New("the goroutine ended early, as after FailNow or Goexit")

// live runs the process until it is done or dead. It uses a separate goroutine, because
// FailNow, Goexit or a panic may end it.
func (p *process) live(t testing.TB) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if p.at != nil {
		kill := func() {
			p.acct.script().Kill(p.acct.armed+p.at.at, p.at.after, func() {
				p.died.Store(true)
				cancel(ErrKilled)
			})
		}
		if p.arms {
			p.acct.onArm = kill
		} else {
			kill()
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				p.err = fmt.Errorf("it panicked: %v\n%s", v, debug.Stack())
			}
		}()
		p.err = errGone
		p.err = p.do(ctx, p.acct)
	}()
	<-done
	if err := p.acct.close(); err != nil {
		t.Errorf("storagetest: closing the loopback server: %v", err)
	}
}

// calls returns the operations of the requests that can be crash points, "" for those that
// are no longer in the log.
func (p *process) calls() []string {
	calls := make([]string, p.acct.script().Last()-p.acct.armed)
	for _, q := range p.acct.Log() {
		if q.Seq > p.acct.armed {
			calls[q.Seq-p.acct.armed-1] = q.Op
		}
	}
	return calls
}
