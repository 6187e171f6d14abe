package eventual_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestLeaseIsRenewedWhileTheHandlerRuns(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) {
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
		assert.Equal(t, calls, 1, "calls")
		// Each time a third of 30 s has passed, so 9 times in 95 s.
		at := requestTimes(b, "Queue.Update")
		if len(at) != 9 || at[0] != 10*time.Second || at[8] != 90*time.Second {
			t.Errorf("renewed at %v", at)
		}
		wantEmpty(t, s.queue)
	})
}

// The service refuses to hide a message beyond its expiry.
func TestLeaseEndsWithTheLifeOfTheMessage(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Parallel = 1 })
		for _, c := range []struct {
			kind    string
			takes   time.Duration
			result  error
			outcome eventual.Outcome
		}{
			{"live", 85 * time.Second, nil, eventual.Done},
			{"expired", 130 * time.Second, nil, eventual.Done}, // no other worker can receive it
			{"snoozed", 0, eventual.Snooze(time.Hour), eventual.Snoozed},
		} {
			eventual.Handle(s.worker, c.kind, func(ctx context.Context, _ eventual.Job[letter]) error {
				select {
				case <-ctx.Done():
					t.Errorf("%s: the context ended: %v", c.kind, context.Cause(ctx))
				case <-time.After(c.takes):
				}
				return c.result
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

func TestFailedRenewalIsRetried(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) {
			o.Visibility = 30 * time.Second
			o.PollMin, o.PollMax = time.Second, time.Second
		})
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			time.Sleep(60 * time.Second)
			return ctx.Err()
		})
		s.put(t, "letter", letter{}, nil)
		b.ResetRequests()
		b.Fault(storagetest.On("Queue.Update").Times(6).Status(http.StatusServiceUnavailable, "ServerBusy"))
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		wantEmpty(t, s.queue)
	})
}

func TestLostLeaseEndsTheHandlersContext(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Visibility = 30 * time.Second; o.Parallel = 1 })
		var cause error
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			if job.Attempt > 1 {
				return nil
			}
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil // ignored, because the worker has no lease any more
		})
		s.put(t, "letter", letter{}, nil)
		// The renewal is carried out and its response is lost: the SDK repeats it with a pop
		// receipt that is no longer valid.
		b.Fault(storagetest.On("Queue.Update").Nth(1).LoseReply())
		wantOutcomes(t, s.until(t, 2), eventual.Lost, eventual.Done)
		assert.WantError(t, cause, eventual.ErrLeaseLost, "the cause was")
		wantEmpty(t, s.queue)
	})
}

func TestExpiredLeaseEndsTheHandlersContext(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Visibility = 30 * time.Second; o.Parallel = 1 })
		var cause error
		var after time.Duration
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			began := time.Now()
			<-ctx.Done()
			cause, after = context.Cause(ctx), time.Since(began)
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		b.Fault(storagetest.On("Queue.Update").LoseRequest())
		// No other worker has received the message meanwhile, so the pop receipt is still valid
		// and the delete succeeds.
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		if !errors.Is(cause, eventual.ErrLeaseLost) || after < 29*time.Second || after > 31*time.Second {
			t.Errorf("the cause was %v after %v", cause, after)
		}
		wantEmpty(t, s.queue)
	})
}

// Another worker may receive the message when the lease ends, whatever becomes of the renewal.
func TestARenewalThatIsNotAnsweredEndsWithTheLease(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Visibility = 30 * time.Second; o.Parallel = 1 })
		var after time.Duration
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			began := time.Now()
			<-ctx.Done()
			after = time.Since(began)
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		b.Fault(storagetest.On("Queue.Update").DelayReply(time.Hour))
		s.until(t, 1)
		if after > 31*time.Second {
			t.Errorf("the handler's context ended after %v", after)
		}
	})
}

func TestMessageDeletedByAnotherWorkerIsDone(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		slow := newFixture(t, b, func(o *eventual.Options) { o.Visibility, o.Parallel = 10*time.Second, 1 })
		fast := newFixtureOn(t, b, slow.queue, slow.poison, nil)
		eventual.Handle(slow.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			time.Sleep(time.Minute) // ignores its context
			return nil
		})
		eventual.Handle(fast.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error { return nil })
		slow.put(t, "letter", letter{}, nil)
		b.Fault(storagetest.On("Queue.Update").LoseRequest()) // the slow worker cannot renew its lease
		stop := slow.start(t)
		synctest.Wait()
		wantOutcomes(t, fast.until(t, 1), eventual.Done)
		wantOutcomes(t, slow.next(t, 1), eventual.Done) // the message does not exist any more
		stop()
		wantEmpty(t, slow.queue)
		wantEmpty(t, slow.poison)
	})
}
