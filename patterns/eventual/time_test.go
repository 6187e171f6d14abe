package eventual_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// inVirtualTime runs body on the in-process account. A goroutine that goes on after
// body fails the test.
func inVirtualTime(t *testing.T, body func(t *testing.T, b *testbed.Backend)) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		synctest.Test(t, func(t *testing.T) { body(t, b) })
	})
}

// seen are the times at which requests of one kind were sent, since the first.
func seen(b *testbed.Backend, op string) []time.Duration {
	var at []time.Duration
	all := b.Requests()
	for _, q := range all.Only(op) {
		at = append(at, q.Start.Sub(all[0].Start))
	}
	return at
}

func TestAHandlerThatTakesLongKeepsItsMessage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) {
			o.Visibility = 30 * time.Second
			o.PollMin, o.PollMax = time.Second, time.Second
		})
		calls := 0
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			calls++
			time.Sleep(95 * time.Second)
			return ctx.Err()
		})
		s.put(t, "letter", letter{}, nil)
		b.ResetRequests()
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
		// Every third of 30 s, so 9 times in 95 s.
		at := seen(b, "Queue.Update")
		if len(at) != 9 || at[0] != 10*time.Second || at[8] != 90*time.Second {
			t.Errorf("renewed at %v", at)
		}
		wantEmpty(t, s.queue)
	})
}

// The service refuses to hide a message for longer than it lives.
func TestAMessageIsHeldUntilItExpires(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) { o.Parallel = 1 })
		for _, c := range []struct {
			kind    string
			takes   time.Duration
			gives   error
			outcome eventual.Outcome
		}{
			{"held", 85 * time.Second, nil, eventual.Done},
			{"expired", 130 * time.Second, nil, eventual.Done}, // nobody else has it
			{"snoozed", 0, eventual.Snooze(time.Hour), eventual.Snoozed},
		} {
			eventual.Handle(s.worker, c.kind, func(ctx context.Context, _ eventual.Job[letter]) error {
				select {
				case <-ctx.Done():
					t.Errorf("%s: ended, as %v", c.kind, context.Cause(ctx))
				case <-time.After(c.takes):
				}
				return c.gives
			})
			s.put(t, c.kind, letter{}, &eventual.EnqueueOptions{TTL: 90 * time.Second})
			wantOutcomes(t, s.until(t, 1), c.outcome)
			time.Sleep(2 * time.Minute)
			wantEmpty(t, s.queue)
		}
		for _, q := range b.Requests().Only("Queue.Update") {
			if q.Status >= 300 {
				t.Errorf("refused: %v", q)
			}
		}
	})
}

func TestARenewalThatFailsForAWhileIsTriedAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) {
			o.Visibility = 30 * time.Second
			o.PollMin, o.PollMax = time.Second, time.Second
		})
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			time.Sleep(60 * time.Second)
			return ctx.Err()
		})
		s.put(t, "letter", letter{}, nil)
		b.ResetRequests()
		b.Fault(fault.On("Queue.Update").Times(6).Status(http.StatusServiceUnavailable, "ServerBusy"))
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		wantEmpty(t, s.queue)
	})
}

func TestAHandlerWhoseMessageIsTakenOverIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) { o.Visibility = 30 * time.Second; o.Parallel = 1 })
		var cause error
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			if job.Attempt > 1 {
				return nil
			}
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil // all the same: it is not this worker's to decide any more
		})
		s.put(t, "letter", letter{}, nil)
		// The renewal is carried out and its reply lost: the SDK repeats it with a receipt
		// that is of no use any more.
		b.Fault(fault.On("Queue.Update").Nth(1).LoseReply())
		wantOutcomes(t, s.until(t, 2), eventual.Lost, eventual.Done)
		if !errors.Is(cause, eventual.ErrLost) {
			t.Errorf("the handler was told %v", cause)
		}
		wantEmpty(t, s.queue)
	})
}

func TestAHandlerIsToldWhenVisibilityRunsOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) { o.Visibility = 30 * time.Second; o.Parallel = 1 })
		var cause error
		var told time.Duration
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			began := time.Now()
			<-ctx.Done()
			cause, told = context.Cause(ctx), time.Since(began)
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		b.Fault(fault.On("Queue.Update").LoseRequest())
		// Nobody has taken the message meanwhile, so that its receipt is still good: what
		// is done is done.
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		if !errors.Is(cause, eventual.ErrLost) || told < 29*time.Second || told > 31*time.Second {
			t.Errorf("the handler was told %v after %v", cause, told)
		}
		wantEmpty(t, s.queue)
	})
}

func TestADeleteWhoseReplyIsLostIsADelete(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, nil)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error { return nil })
		s.put(t, "letter", letter{}, nil)
		b.Fault(fault.On("Queue.Delete").Nth(1).LoseReply())
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		wantEmpty(t, s.queue)
	})
}

func TestTwoWorkersWithOneMessageEndWithOneEffectAndNoError(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		slow := newBench(t, b, func(o *eventual.Options) { o.Visibility, o.Parallel = 10*time.Second, 1 })
		fast := benchOn(t, b, slow.queue, slow.poison, nil)
		eventual.Handle(slow.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			time.Sleep(time.Minute) // does not heed its context
			return nil
		})
		eventual.Handle(fast.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error { return nil })
		slow.put(t, "letter", letter{}, nil)
		b.Fault(fault.On("Queue.Update").LoseRequest()) // the slow one cannot renew
		stop := slow.start(t)
		synctest.Wait()
		wantOutcomes(t, fast.until(t, 1), eventual.Done)
		wantOutcomes(t, slow.next(t, 1), eventual.Done) // there is nothing left to do
		stop()
		wantEmpty(t, slow.queue)
		wantEmpty(t, slow.poison)
	})
}

func TestFailedAttemptsWaitTheDefaultBackoff(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) {
			o.Backoff, o.MaxAttempts = nil, 10
			o.PollMin, o.PollMax = time.Second, time.Second
		})
		var at []time.Time
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			at = append(at, time.Now())
			return errFails
		})
		s.put(t, "letter", letter{}, nil)
		es := s.until(t, 10)
		if o := es[9].Outcome; o != eventual.Poisoned {
			t.Errorf("the last attempt was %v", o)
		}
		for i, want := range []time.Duration{5, 10, 20, 40, 80, 160, 320, 600, 600} {
			want *= time.Second
			// ±20 %, rounded up to seconds, and until the next poll.
			if got := at[i+1].Sub(at[i]); got < want*8/10 || got > want*12/10+2*time.Second {
				t.Errorf("attempt %d came after %v, want about %v", i+2, got, want)
			}
		}
	})
}

func TestSnoozedAttemptsDoNotCount(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) { o.MaxAttempts, o.PollMax = 2, 10*time.Second })
		began := time.Now()
		calls := 0
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			if job.Attempt != 1 {
				t.Errorf("attempt %d", job.Attempt)
			}
			if calls++; calls <= 4 {
				return eventual.Snooze(time.Hour)
			}
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		wantOutcomes(t, s.until(t, 5), eventual.Snoozed, eventual.Snoozed, eventual.Snoozed, eventual.Snoozed, eventual.Done)
		if took := time.Since(began); took < 4*time.Hour || took > 4*time.Hour+time.Minute {
			t.Errorf("it took %v", took)
		}
		wantEmpty(t, s.queue)
	})
}

func TestAnIdleWorkerPollsLessAndLessAndAtOnceAfterAHit(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) { o.PollMin, o.PollMax = 0, 0 })
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error { return nil })
		stop := s.start(t)
		time.Sleep(3 * time.Minute)
		at := seen(b, "Queue.Get")
		pause := 250 * time.Millisecond
		for i := range len(at) - 1 {
			if got := at[i+1] - at[i]; got < pause*3/4 || got > pause*5/4 {
				t.Errorf("pause %d was %v, want about %v", i, got, pause)
			}
			pause = min(2*pause, 30*time.Second)
		}
		// 0.25, 0.5, 1, 2, 4, 8, 16 and then 30 s: 12 polls in 3 minutes, ±25 %.
		if len(at) < 10 || len(at) > 15 {
			t.Errorf("%d polls in 3 minutes", len(at))
		}
		s.put(t, "letter", letter{}, nil)
		b.ResetRequests()
		s.next(t, 1)
		time.Sleep(350 * time.Millisecond)
		// The poll that finds it, one at once, one after PollMin.
		if at := seen(b, "Queue.Get"); len(at) < 3 || at[1] != at[0] || at[2]-at[1] > 400*time.Millisecond {
			t.Errorf("polls after a hit: %v", at)
		}
		stop()
	})
}

func TestAPollTakesNoMoreThanThereAreHandlersFree(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		for _, parallel := range []int{1, 3, 16, 40} {
			s := newBench(t, b, func(o *eventual.Options) { o.Parallel = parallel })
			var now, most atomic.Int32
			eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(10 * time.Second)
				now.Add(-1)
				return nil
			})
			for range 100 {
				s.put(t, "letter", letter{}, nil)
			}
			b.ResetRequests()
			stop := s.start(t)
			time.Sleep(time.Second)
			if got := int(most.Load()); got != parallel {
				t.Errorf("Parallel %d: %d at once", parallel, got)
			}
			polls := b.Requests().Only("Queue.Get")
			if got := polls[0].Returned; got != min(parallel, 32) {
				t.Errorf("Parallel %d: the first poll took %d", parallel, got)
			}
			if left := len(messages(t, s.queue)); left != min(100-parallel, 32) {
				t.Errorf("Parallel %d: others see %d", parallel, left)
			}
			s.next(t, 100)
			stop()
			if got := int(most.Load()); got != parallel {
				t.Errorf("Parallel %d: %d at once", parallel, got)
			}
			wantEmpty(t, s.queue)
		}
	})
}
