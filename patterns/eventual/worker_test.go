package eventual_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestHandlerReceivesTheMessageAsEnqueued(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		var got eventual.Job[letter]
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			got = job
			return nil
		})
		before := time.Now().Add(-time.Second)
		want := letter{"Don Hall", "<&'\"> \x00 \u2028 ü \U0001F600 \uFFFE"}
		s.put(t, "letter", want, &eventual.EnqueueOptions{ID: "op-1"})
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		assert.Equal(t, got.Message, want)
		if got.ID != "op-1" || got.Kind != "letter" || got.Attempt != 1 || got.Enqueued.Before(before) {
			t.Errorf("got %+v", got)
		}
		wantEmpty(t, s.queue)
		wantEmpty(t, s.poison)
	})
}

func TestFailedAttemptsAreRetriedUntilOneSucceeds(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		var attempts []int
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			attempts = append(attempts, job.Attempt)
			switch job.Attempt {
			case 1:
				return errFails
			case 2:
				panic("at the post office")
			}
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		es := s.until(t, 3)
		slices.SortFunc(es, func(a, b eventual.Event) int { return a.Attempt - b.Attempt }) // the end of one may be reported after that of the next
		wantOutcomes(t, es, eventual.Retrying, eventual.Retrying, eventual.Done)
		assert.WantError(t, es[0].Err, errFails, "the first ended with")
		var p *eventual.PanicError
		if !errors.As(es[1].Err, &p) || p.Value != "at the post office" || len(p.Stack) == 0 {
			t.Errorf("the second ended with %v", es[1].Err)
		}
		wantEmpty(t, s.queue)
		wantEmpty(t, s.poison)
	})
}

func TestFailedAttemptsWaitForTheDefaultBackoff(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) {
			o.Backoff, o.Tries = nil, 10
			o.PollMin, o.PollMax = time.Second, time.Second
		})
		var at []time.Time
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			at = append(at, time.Now())
			return errFails
		})
		s.put(t, "letter", letter{}, nil)
		es := s.until(t, 10)
		assert.Equal(t, es[9].Outcome, eventual.Poisoned, "the last attempt was")
		for i, want := range []time.Duration{5, 10, 20, 40, 80, 160, 320, 600, 600} {
			want *= time.Second
			// ±20 %, rounded up to seconds, and the time to the next poll.
			if got := at[i+1].Sub(at[i]); got < want*8/10 || got > want*12/10+2*time.Second {
				t.Errorf("attempt %d came after %v, want about %v", i+2, got, want)
			}
		}
	})
}

func TestSnoozedAttemptsDoNotCount(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries, o.PollMax = 2, 10*time.Second })
		began := time.Now()
		calls := 0
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			assert.Equal(t, job.Attempt, 1, "attempt")
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

func TestLostResponseToTheDeleteIsNoError(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error { return nil })
		s.put(t, "letter", letter{}, nil)
		b.Fault(storagetest.On("Queue.Delete").Nth(1).LoseReply())
		wantOutcomes(t, s.until(t, 1), eventual.Done)
		wantEmpty(t, s.queue)
	})
}

func TestRunFailsIfTheQueueDoesNotExist(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		assert.NoError(t, assert.ErrorOf(s.queue.Delete(t.Context(), nil)))
		err := s.worker.Run(t.Context())
		var e *patterns.Error
		var refused *azcore.ResponseError
		if !errors.As(err, &e) || e.Code != "QueueNotFound" || !errors.As(err, &refused) {
			t.Errorf("got %v", err)
		}
		if text := err.Error(); strings.Contains(text, "http") {
			t.Errorf("the message contains the address: %s", text)
		}
		if text := fmt.Sprintf("%+v", e); !strings.Contains(text, "http") {
			t.Errorf("%%+v does not contain the address: %s", text)
		}
	})
}

func TestCreateCreatesBothQueues(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil) // both exist already
		assert.Equal(t, s.worker.Create(t.Context()), nil)
		b.WantRequests(t, map[string]int{"Queue.CreateQueue": 2})
	})
}

func TestJobTakesOnePollAndOneDelete(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.PollMin, o.PollMax = time.Hour, time.Hour })
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error { return nil })
		for range 16 {
			s.put(t, "letter", letter{}, nil)
		}
		b.ResetRequests()
		s.until(t, 16)
		// One poll for all messages, and at most one more while the handlers run.
		log := b.Requests()
		polls := log.Count("Queue.Get")
		if log[0].Op != "Queue.Get" || polls > 2 || log.Count("Queue.Delete") != 16 || len(log) != 16+polls {
			t.Errorf("requests\n%v", log)
		}
	})
}

// The requests of a delivery in addition to the poll.
func TestEachOutcomeTakesTheDocumentedRequests(t *testing.T) {
	for name, c := range map[string]struct {
		result  error
		size    int
		outcome eventual.Outcome
		want    map[string]int
	}{
		"done":            {nil, 1, eventual.Done, map[string]int{"Queue.Delete": 1}},
		"done, in a blob": {nil, 60 << 10, eventual.Done, map[string]int{"Queue.Delete": 1, "Blob.Get": 1, "Blob.Delete": 1}},
		"failed":          {errFails, 1, eventual.Retrying, map[string]int{"Queue.Update": 1}},
		"snoozed":         {eventual.Snooze(time.Hour), 1, eventual.Snoozed, map[string]int{"Queue.Update": 1}},
		"poisoned":        {eventual.Cancel("", errFails), 1, eventual.Poisoned, map[string]int{"Queue.Put": 1, "Queue.Delete": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				payloads := b.Container(t)
				s := newFixture(t, b, func(o *eventual.Options) {
					o.PollMin, o.PollMax = time.Hour, time.Hour
					o.Parallel = 1
					o.Container = payloads
					o.Backoff = nil
				})
				eventual.Handle(s.worker, "full", func(context.Context, eventual.Job[string]) error { return c.result })
				s.put(t, "full", strings.Repeat("x", c.size), &eventual.EnqueueOptions{Container: payloads})
				b.ResetRequests()
				wantOutcomes(t, s.until(t, 1), c.outcome)
				log := b.Requests()
				polls := log.Count("Queue.Get")
				if polls > 2 { // there may be another one between the end of the job and the stop of the worker
					t.Errorf("%d polls", polls)
				}
				total := polls
				for op, n := range c.want {
					total += n
					assert.Equal(t, log.Count(op), n, "requests", op)
				}
				assert.Equal(t, len(log), total, "requests", log)
			})
		})
	}
}
