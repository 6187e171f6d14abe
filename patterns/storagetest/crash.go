package storagetest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/azpatterns/azpatterns/internal/fault"
)

// ErrKilled is what every storage call of a scenario of [CrashPoints] ends with
// once its process is taken for dead, and the cause of its context's end.
var ErrKilled = fault.ErrKilled

// CrashPoints proves that code which takes several requests survives the death
// of its process at any of them.
//
// It runs scenario on a fresh account once, to count its storage calls, and
// then, on a fresh account each time, once for every call with the process
// killed just before it and once with the process killed just after it: the
// call was carried out, and nobody lived to see the answer. Then, with all
// faults cleared, check runs on what was left, as the process that is started
// next would: it lets the code under test recover, and asserts that all is as
// it has to be. It also runs after the undisturbed scenario, which must return
// nil.
//
// A process that is killed stops; a function cannot be stopped. Instead ctx
// ends, with the cause [ErrKilled], and every call from then on fails at once and
// is not carried out, whatever context it has; no SDK tries it again. A scenario
// that has goroutines lets them end, and returns. What it returns then is of no
// interest, and neither is a panic; a goroutine that sends thousands of requests
// after its death is ended by runtime.Goexit. Only then check starts, on an
// Account of its own: the same storage, a log and faults of its own.
//
// Calls before [Account.Arm] are not crash points. Without it every call is one.
// The number of calls may differ between runs, because of goroutines or of
// chance: later and later calls are tried until a run has ended before its
// crash point, and such a run has to pass check like the undisturbed one.
//
// Each run is a subtest in its own testing/synctest bubble, so that backoff,
// visibility timeouts and pauses take no time; so CrashPoints itself must not be
// called inside one, and scenario and check must end the goroutines they start
// and use the ctx and t that they are given, not those of the test around them.
//
// A subtest is called after its crash point, "before 3 Table.Insert", and go test
// -run can pick it. When it fails it prints the seed and the requests of every
// process, up to the crash and after it.
//
//	storagetest.CrashPoints(t,
//		func(ctx context.Context, acct *storagetest.Account) error {
//			accounts := open(acct) // makes tables and queues
//			acct.Arm()
//			return accounts.Transfer(ctx, "alice", "bob", 10)
//		},
//		func(t *testing.T, acct *storagetest.Account) {
//			accounts := open(acct)
//			accounts.Recover(t.Context())
//			if sum := accounts.Sum(t.Context()); sum != 100 {
//				t.Errorf("money came or went: %d", sum)
//			}
//		})
//
// A scenario that makes its own contexts may leave ctx out, and the error; a check
// that needs no t may leave that out, or return an error instead. See [Scenario] and
// [Check].
func CrashPoints[S Scenario, C Check](t *testing.T, scenario S, check C) {
	t.Helper()
	CrashPointsWith(t, nil, scenario, check)
}

// Scenario is what [CrashPoints] runs and kills.
type Scenario interface {
	func(context.Context, *Account) error | func(*Account) error | func(*Account)
}

// Check is what [CrashPoints] runs afterwards.
type Check interface {
	func(*testing.T, *Account) | func(*Account) error | func(*Account)
}

func fullScenario[S Scenario](scenario S) func(context.Context, *Account) error {
	switch s := any(scenario).(type) {
	case func(*Account) error:
		return func(_ context.Context, acct *Account) error { return s(acct) }
	case func(*Account):
		return func(_ context.Context, acct *Account) error { s(acct); return nil }
	}
	return any(scenario).(func(context.Context, *Account) error)
}

func fullCheck[C Check](check C) func(*testing.T, *Account) {
	switch c := any(check).(type) {
	case func(*Account) error:
		return func(t *testing.T, acct *Account) {
			t.Helper()
			if err := c(acct); err != nil {
				t.Error(err)
			}
		}
	case func(*Account):
		return func(_ *testing.T, acct *Account) { c(acct) }
	}
	return any(check).(func(*testing.T, *Account))
}

// CrashOptions of [CrashPointsWith]. The zero value is what [CrashPoints] does.
type CrashOptions struct {
	// Account is the account of every run: its pages, and the seed of its
	// faults. A Seed of 0 is chosen at random once, for all runs.
	Account Options

	// Recover is what the process does that is started after the crash, before
	// check. It is killed as well, before and after each of its calls, and then
	// started again: code that recovers dies, too. If it is never killed, it
	// must return nil. Nil: check alone recovers.
	//
	// It runs after the undisturbed scenario as well, where it finds nothing to
	// do. With n calls of the scenario and m of Recover there are about 4·n·m
	// runs.
	Recover func(ctx context.Context, acct *Account) error
}

// CrashPointsWith is [CrashPoints] with options. Nil options are the zero
// options.
func CrashPointsWith[S Scenario, C Check](t *testing.T, opts *CrashOptions, scenario S, check C) {
	t.Helper()
	c := &crashTest{scenario: fullScenario(scenario), check: fullCheck(check)}
	if opts != nil {
		c.CrashOptions = *opts
	}
	for c.Account.Seed == 0 {
		c.Account.Seed = rand.Uint64()
	}
	c.explore(t, nil)
}

// Arm marks the end of what a scenario of [CrashPoints] sets up: its crash
// points begin here. The first call counts. Outside of CrashPoints it does nothing.
func (a *Account) Arm() {
	if a.arms {
		return
	}
	a.arms, a.armed = true, a.faults.Last()
	if a.onArm != nil {
		a.onArm()
	}
}

// restarted is the account as the next process finds it: the same storage, no
// request logged, no fault scripted.
func (a *Account) restarted() *Account {
	return &Account{
		tables: a.tables, queues: a.queues, blobs: a.blobs,
		faults: fault.Wrap(a.faults.Inner(), &fault.Options{Seed: a.Seed()}),
	}
}
