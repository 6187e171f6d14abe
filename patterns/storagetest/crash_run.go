package storagetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// crash is one point at which a process may die.
type crash struct {
	at   int // the call, counted from 1
	when when
	op   string // of that call in the undisturbed run; "" for a later call

	// arrives is the number of calls of the next process after which the request of a late
	// crash arrives, if it is not due before.
	arrives int
}

// when is what happens to the request at which a process dies.
type when string

const (
	before when = "before" // it is not carried out
	after  when = "after"  // it is carried out
	late   when = "late"   // it arrives later
)

func (c crash) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", c.when, c.at, c.op))
}

// death returns how the process dies. inFlight is the longest time in which a late request
// arrives.
func (c crash) death(inFlight time.Duration) death {
	return death{when: c.when, requests: c.arrives, within: inFlight}
}

// isLate reports whether the last process that the plan kills dies with a request in flight.
func isLate(plan []crash) bool { return len(plan) > 0 && plan[len(plan)-1].when == late }

// crashTest is a call of CrashPoints.
type crashTest struct {
	account  Options
	recover  func(context.Context, *Account) error
	scenario func(context.Context, *Account) error
	check    func(*testing.T, *Account)
	inFlight time.Duration
	arms     bool // the scenario calls Arm
}

// result is the result of one run.
type result struct {
	calls  []string // of the last process that was not killed, which may be killed next
	died   bool     // at the last point of the plan
	passed bool
}

// explore runs the processes that die according to the plan, and the one that then
// survives. It continues with plans in which that process dies at each of its calls.
func (c *crashTest) explore(t *testing.T, plan []crash) result {
	deeper := len(plan) == 0 || len(plan) == 1 && c.recover != nil && !isLate(plan)
	o := c.subtest(t, plan, deeper)
	if !deeper || !o.passed || len(plan) > 0 && !o.died {
		return o
	}
	if len(plan) == 0 && len(o.calls) == 0 {
		t.Error("the scenario made no storage call that could be a crash point")
		return o
	}
	for i := 1; ; i++ {
		next := crash{at: i, when: before}
		if i <= len(o.calls) {
			next.op = o.calls[i-1]
		}
		with := func(next crash) []crash { return append(plan[:len(plan):len(plan)], next) }
		unsent := c.explore(t, with(next))
		if !unsent.died && i > len(o.calls) {
			return o
		}
		next.when = after
		c.explore(t, with(next))
		if c.inFlight < 0 || op.Op(next.op).ReadOnly() {
			continue // a read that arrives late changes nothing
		}
		next.when, next.arrives = late, math.MaxInt
		if c.recover != nil {
			calls := o.calls // of the process that recovered from the previous crash
			if len(plan) == 0 {
				calls = unsent.calls
			}
			next.arrives = c.arrival(with(next), len(calls))
		}
		c.explore(t, with(next))
	}
}

// nameOf returns the name of the subtest for the plan.
func nameOf(plan []crash) string {
	name := "undisturbed"
	for i, p := range plan {
		if i == 0 {
			name = p.String()
		} else {
			name += ", then " + p.String()
		}
	}
	return name
}

// arrival returns the number of calls, at least 1, after which the request of the last crash of
// the plan arrives: at random while the next process makes about that many calls. It depends
// only on the seed and the plan, so a single subtest can be run again.
func (c *crashTest) arrival(plan []crash, calls int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(nameOf(plan))) // never returns an error
	return 1 + rand.New(rand.NewPCG(c.account.Seed, h.Sum64())).IntN(max(1, calls))
}

// subtest runs the plan as a subtest. If go test -run has not selected it and counted is
// true, it runs the plan nevertheless, without a check and without reports, because its
// calls determine further subtests.
func (c *crashTest) subtest(t *testing.T, plan []crash, counted bool) (o result) {
	picked := false
	o.passed = t.Run(nameOf(plan), func(t *testing.T) {
		picked = true
		synctest.Test(t, func(t *testing.T) {
			c.run(t, plan, &o, func(acct *Account) { c.check(t, acct) })
		})
	})
	if !picked && counted {
		synctest.Test(t, func(t *testing.T) { c.run(quiet{t}, plan, &o, func(*Account) {}) })
	}
	return o
}

// quiet is a test that ignores errors.
type quiet struct{ testing.TB }

func (quiet) Errorf(string, ...any) {}

// run runs all processes, and then check, on one storage.
func (c *crashTest) run(t testing.TB, plan []crash, o *result, check func(*Account)) {
	var chapters story
	acct := Start(&c.account)
	acct.t = t
	restart := func(title string) {
		chapters = append(chapters, chapter{title, acct})
		acct = acct.restarted()
	}
	next := func(title string, p *process) *process {
		p.acct, p.inFlight = acct, c.inFlight
		p.live(t)
		if p.died.Load() {
			title += ", killed " + p.at.String()
		}
		if p.err != nil && !p.died.Load() && !p.mayFail {
			t.Errorf("%s, which was not killed: %v", title, p.err)
		}
		restart(title)
		return p
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("storagetest: seed %d\n%vcheck:\n%v", c.account.Seed, chapters, acct.Log())
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
		if isLate(plan) {
			next("the process that recovers while the request arrives", &process{do: c.recover, mayFail: true})
			acct.Arrive()
		}
		if last := next("the last process that recovers", &process{do: c.recover}); len(plan) > 0 {
			o.calls = last.calls()
		}
	}
	if t.Failed() {
		return
	}
	check(acct)
	if c.recover == nil && isLate(plan) && !t.Failed() && acct.Arrive() > 0 {
		restart("check, before the request arrives")
		check(acct)
	}
}

// chapter is one process in the log of a failed run. Its log is formatted when it is printed,
// because a late request changes the log of the process that sent it.
type chapter struct {
	title string
	acct  *Account
}

// story is the log of a run.
type story []chapter

func (s story) String() string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, "%s:\n%v", c.title, c.acct.Log())
	}
	return b.String()
}

// process is one process.
type process struct {
	acct *Account
	do   func(context.Context, *Account) error
	at   *crash // when it dies; nil: never

	inFlight time.Duration

	arms bool // its calls are crash points only after Arm

	mayFail bool // it may return an error although it was not killed

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
			p.acct.script().Kill(p.acct.armed+p.at.at, p.at.death(p.inFlight), func() {
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
