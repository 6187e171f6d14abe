package storagetest

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// CrashPoints tests that code which makes several requests survives the death of its
// process at any of them.
//
// It first runs scenario on a new account without a crash, to count its storage calls. Then
// it runs scenario three times for each call, each time on a new account:
//
//   - before: the process is killed just before the call;
//   - after: the process is killed just after the call, which was carried out and whose reply
//     is never delivered;
//   - late: the process is killed while its request is in flight, and the request arrives
//     later. A call that only reads has no such run.
//
// After each run, check runs on the resulting storage, without faults, as the process that is
// started next: it lets the code under test recover, and asserts that the state is correct.
// check also runs after the scenario without a crash, which must return nil.
//
// In a late run, the request arrives at the first request of check that is sent a minute or
// more after the crash, see [CrashOptions].InFlight. If check waits less, the request arrives
// at its end, and check runs again, as another process. So check must be repeatable, and must
// not expect after a wait what it read before. With [CrashOptions].Recover, the request arrives
// while Recover runs, and check runs once.
//
// A function cannot be stopped as a process can. Instead ctx ends, with the cause
// [ErrKilled], and every later call fails immediately and is not carried out, whatever its
// context; the SDK does not retry it. A scenario that starts goroutines must wait for them.
// After the crash the result of the scenario is ignored, even a panic. A goroutine that
// sends thousands of requests after the crash is ended by runtime.Goexit. check receives a
// new Account with the same storage, an empty log and no rules.
//
// Calls before [Account.Arm] are not crash points. If the scenario does not call Arm, every
// call is one. The number of calls may differ between runs, because of goroutines or
// chance. CrashPoints therefore tries later and later calls, until a run ends before its
// crash point. Such a run has to pass check, too.
//
// Each run is a subtest in its own testing/synctest bubble, so that backoff, visibility
// timeouts and pauses take no real time. Therefore CrashPoints itself must not be called
// inside a bubble, and scenario and check must end the goroutines that they start, and use
// the ctx and t that they receive, not those of the surrounding test.
//
// A subtest is named after its crash point, "late 3 Table.Insert", so that go test -run
// can select it. If it fails, it logs the seed and the requests of every process, up to the
// crash and after it.
//
//	storagetest.CrashPoints(t,
//		func(ctx context.Context, acct *storagetest.Account) error {
//			accounts := open(acct) // creates tables and queues
//			acct.Arm()
//			return accounts.Transfer(ctx, "alice", "bob", 10)
//		},
//		func(t *testing.T, acct *storagetest.Account) {
//			accounts := open(acct)
//			accounts.Recover(t.Context())
//			if sum := accounts.Sum(t.Context()); sum != 100 {
//				t.Errorf("the sum is %d", sum)
//			}
//		})
//
// A scenario that creates its own contexts may omit ctx, and the error. A check that does
// not need t may omit it, or return an error instead. See [Scenario] and [Check].
func CrashPoints[S Scenario, C Check](t *testing.T, scenario S, check C) {
	t.Helper()
	CrashPointsWith(t, scenario, check, nil)
}

// Scenario is a function that [CrashPoints] runs and kills.
type Scenario interface {
	func(context.Context, *Account) error | func(*Account) error | func(*Account)
}

// Check is a function that [CrashPoints] runs after each Scenario.
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

// CrashOptions are the options of [CrashPointsWith]. The zero value is what [CrashPoints] uses.
type CrashOptions struct {
	// Account are the options of the account of every run. nil means the zero Options. If
	// its Seed is zero, one random seed is used for all runs.
	Account *Options

	// Recover runs after the crash and before check, as the next process. It is also
	// killed, before and after each of its calls and with a request in flight, and then runs
	// again. If it is not killed, it must return nil. If Recover is nil, only check recovers.
	//
	// If a request arrives late, it arrives while Recover runs: after one of its calls, which
	// the seed determines, or after InFlight if that is earlier, or at its end. This run of
	// Recover may return an error. Then Recover runs once more, before check.
	//
	// Recover also runs after the scenario without a crash, when it has nothing to
	// recover. n calls of the scenario and m calls of Recover take about 6·n·m runs.
	Recover func(ctx context.Context, acct *Account) error

	// InFlight is the longest time after the crash in which the request in flight arrives. It
	// must not be longer than the code under test expects, such as the Expiry of an outbox.
	// Zero means one minute. If InFlight is negative, no request arrives late.
	InFlight time.Duration
}

// CrashPointsWith is [CrashPoints] with options. nil means the zero CrashOptions.
func CrashPointsWith[S Scenario, C Check](t *testing.T, scenario S, check C, opts *CrashOptions) {
	t.Helper()
	if reflect.ValueOf(scenario).IsNil() || reflect.ValueOf(check).IsNil() {
		t.Fatal("storagetest: CrashPoints needs a scenario and a check")
	}
	c := &crashTest{scenario: fullScenario(scenario), check: fullCheck(check), inFlight: time.Minute}
	if opts != nil {
		c.recover = opts.Recover
		if opts.InFlight != 0 {
			c.inFlight = opts.InFlight
		}
		if opts.Account != nil {
			c.account = *opts.Account
		}
	}
	for c.account.Seed == 0 {
		c.account.Seed = rand.Uint64()
	}
	c.explore(t, nil)
}

// Arm marks the end of the preparations in a scenario of [CrashPoints]: only the storage
// calls after it are crash points. Only the first call of Arm has an effect. Outside of
// CrashPoints Arm has no effect.
func (a *Account) Arm() {
	if a.arms {
		return
	}
	a.arms, a.armed = true, a.script().Last()
	if a.onArm != nil {
		a.onArm()
	}
}
