package eventual_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// skewed runs body in a process whose clock is behind that of the service, and in one whose
// clock is ahead.
func skewed(t *testing.T, body func(t *testing.T, b *harness.Backend, skew time.Duration)) {
	for _, skew := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
		harness.InSkewedTime(t, skew, func(t *testing.T, b *harness.Backend) { body(t, b, skew) })
	}
}

func TestAToSweepClaimsMeasuresAgesByTheClockOfTheService(t *testing.T) {
	skewed(t, func(t *testing.T, b *harness.Backend, _ time.Duration) {
		payloads, queue := b.Container(t), b.Queue(t)
		err := eventual.Enqueue(t.Context(), queue, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
		assert.NoError(t, err)
		for done := range 2 {
			report, err := sweepClaims(t, payloads, &patterns.SweepOptions{OlderThan: time.Hour})
			wantSwept(t, report, err, done, 1-done, int64(done)*(60<<10+2))
			time.Sleep(time.Hour + 2*time.Second)
		}
	})
}

func TestLeaseEndsWithTheLifeOfTheMessageByTheClockOfTheService(t *testing.T) {
	skewed(t, func(t *testing.T, b *harness.Backend, _ time.Duration) {
		s := newFixture(t, b, infrequentPolls)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, _ eventual.Job[letter]) error {
			select {
			case <-ctx.Done():
				t.Errorf("the context ended: %v", context.Cause(ctx))
			case <-time.After(85 * time.Second):
			}
			return nil
		})
		s.put(t, "letter", letter{}, &eventual.EnqueueOptions{TTL: 90 * time.Second})
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		wantEmpty(t, s.queue)
		for _, q := range b.Requests().Only("Queue.Update") {
			if q.Status >= 300 {
				t.Errorf("refused: %v", q)
			}
		}
	})
}

func TestPoisonMessageHasTheTimesOfTheService(t *testing.T) {
	skewed(t, func(t *testing.T, b *harness.Backend, skew time.Duration) {
		s := newFixture(t, b, infrequentPolls)
		s.put(t, "letter", letter{}, nil) // there is no handler
		time.Sleep(time.Minute)
		wantOutcomes(t, s.until(t, 1), eventual.Poisoned)
		now := time.Now().Add(skew)
		if d := peek(t, s.poisonQueue(t))[0]; d.PoisonedAt.Before(now.Add(-2*time.Second)) || d.PoisonedAt.After(now) {
			t.Errorf("moved at %v, now it is %v", d.PoisonedAt, now)
		}
	})
}

// The reply to the poll, or the process that waits for it, is delayed.
func TestMessageOfAWorkerThatWasSuspendedAfterItsPollIsNotProcessedTwice(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for name, c := range map[string]struct {
			kind    string
			another bool // worker receives the message meanwhile
			want    eventual.Outcome
		}{
			"received by another worker":               {"letter", true, eventual.Lost},
			"not received":                             {"letter", false, eventual.Released},
			"without handler, received by another":     {"unknown", true, eventual.Lost},
			"without handler, not received by another": {"unknown", false, eventual.Released},
		} {
			slow := newFixture(t, b, infrequentPolls)
			fast := newFixtureOn(t, b, slow.queue, slow.poison, infrequentPolls)
			calls := 0
			handle := func(context.Context, eventual.Job[letter]) error { calls++; return nil }
			eventual.Handle(slow.worker, "letter", handle)
			eventual.Handle(fast.worker, "letter", handle)
			if c.another {
				eventual.Handle(fast.worker, "unknown", handle)
			}
			slow.put(t, c.kind, letter{}, nil)
			b.Fault(storagetest.On("Queue.Get").Nth(1).DelayReply(90 * time.Second))
			stop := slow.start(t)
			time.Sleep(time.Second)
			if c.another {
				time.Sleep(time.Minute)
				wantOutcomes(t, fast.until(t, 1), eventual.Done)
			}
			if got := slow.next(t, 1)[0]; got.Outcome != c.want {
				t.Errorf("%s: %v (%v), want %v", name, got.Outcome, got.Err, c.want)
			}
			stop()
			b.ClearFaults()
			if c.another && calls != 1 {
				t.Errorf("%s: %d calls", name, calls)
			}
			if n := count(t, slow.poison); c.another && n != 0 {
				t.Errorf("%s: %d poison messages", name, n)
			}
		}
	})
}

// The worker loses its lease because it cannot renew it, another worker processes the
// message, and then the handler of the first fails.
func TestMessageThatAnotherWorkerHasProcessedIsNotMovedToPoison(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		slow := newFixture(t, b, infrequentPolls)
		fast := newFixtureOn(t, b, slow.queue, slow.poison, infrequentPolls)
		eventual.Handle(slow.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			time.Sleep(2 * time.Minute) // ignores its context
			return eventual.Cancel("", errFails)
		})
		eventual.Handle(fast.worker, "letter", func(context.Context, eventual.Job[letter]) error { return nil })
		slow.put(t, "letter", letter{}, nil)
		b.Fault(storagetest.On("Queue.Update").LoseRequest())
		stop := slow.start(t)
		time.Sleep(time.Minute + time.Second)
		wantOutcomes(t, fast.until(t, 1), eventual.Done)
		b.ClearFaults()
		wantOutcomes(t, slow.next(t, 1), eventual.Lost)
		stop()
		wantEmpty(t, slow.queue)
		wantEmpty(t, slow.poison)
	})
}

func TestWorkersOfAStoreDoNoHarmIfTheirClocksAreWrong(t *testing.T) {
	skewed(t, func(t *testing.T, b *harness.Backend, _ time.Duration) {
		s := newLateFixture(t, b, infrequentPolls)
		store := s.newStore(t)
		b.Fault(crashBefore(4)...) // after put, reserve and transaction
		_, _ = store.Insert(t.Context(), ken("ken"))
		b.ClearFaults()
		began := time.Now()
		s.runFor(t, storeGrace+onePoll)
		wantEmpty(t, s.queue)
		wantCopy(t, store.Table(), "ken")

		stop := s.late.start(t)
		time.Sleep(storeExpiry - time.Since(began))
		assert.Equal(t, records(t, store), 1, "records before Expiry")
		time.Sleep(2 * time.Minute)
		stop()
		wantEmpty(t, s.late.queue)
		wantFinished(t, store)
	})
}
