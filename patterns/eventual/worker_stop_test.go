package eventual_test

import (
	"context"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestStoppedWorkerLetsHandlersFinish(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			time.Sleep(20 * time.Second)
			return ctx.Err()
		})
		s.put(t, "letter", letter{}, nil)
		stop := s.start(t)
		time.Sleep(time.Second)
		s.put(t, "letter", letter{}, &eventual.EnqueueOptions{Delay: time.Second}) // becomes visible after the stop
		began := time.Now()
		stop()
		assert.Equal(t, time.Since(began), 19*time.Second, "it took", "to stop")
		wantOutcomes(t, s.next(t, 1), eventual.Done)
		assert.Equal(t, count(t, s.queue), 1, "messages remain")
	})
}

func TestHandlersAreCancelledAfterTheGraceTimeAndTheirMessagesReleased(t *testing.T) {
	stops := map[string]struct {
		grace time.Duration
		stop  func(s *fixture, stop func())
		after time.Duration
	}{
		"default":     {0, func(s *fixture, stop func()) { stop() }, 20 * time.Second},
		"five":        {5 * time.Second, func(s *fixture, stop func()) { stop() }, 5 * time.Second},
		"none":        {-1, func(s *fixture, stop func()) { stop() }, 0},
		"abort":       {time.Hour, func(s *fixture, stop func()) { s.worker.Abort(); stop() }, 0},
		"abort later": {time.Hour, func(s *fixture, stop func()) { time.AfterFunc(7*time.Second, s.worker.Abort); stop() }, 7 * time.Second},
	}
	for name, c := range stops {
		t.Run(name, func(t *testing.T) {
			harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
				s := newFixture(t, b, func(o *eventual.Options) { o.Grace = c.grace })
				var cause error
				eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
					<-ctx.Done()
					cause = context.Cause(ctx)
					return ctx.Err()
				})
				s.put(t, "letter", letter{}, nil)
				stop := s.start(t)
				time.Sleep(time.Second)
				began := time.Now()
				c.stop(s, stop)
				assert.Equal(t, time.Since(began), c.after, "it took", "to stop")
				assert.WantError(t, cause, eventual.ErrStopped, "the cause was")
				wantOutcomes(t, s.next(t, 1), eventual.Released)
				// Another worker receives the message immediately, and the attempt did not count.
				next := newFixtureOn(t, b, s.queue, s.poison, nil)
				eventual.Handle(next.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
					assert.Equal(t, job.Attempt, 1, "attempt")
					return nil
				})
				wantOutcomes(t, next.until(t, 1), eventual.Done)
			})
		})
	}
}

func TestMessagesReceivedAfterTheStopAreReleased(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			t.Error("a handler was called")
			return nil
		})
		for range 5 {
			s.put(t, "letter", letter{}, nil)
		}
		b.Fault(storagetest.On("Queue.Get").DelayReply(10 * time.Second))
		stop := s.start(t)
		time.Sleep(time.Second)
		stop() // during the poll
		for _, e := range s.next(t, 5) {
			assert.Equal(t, e.Outcome, eventual.Released)
		}
		assert.Equal(t, len(messages(t, s.queue)), 5, "messages are visible")
	})
}

func TestReleasesDoNotCountAsAttempts(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Grace = -1 })
		s.put(t, "letter", letter{}, nil)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			<-ctx.Done()
			return ctx.Err()
		})
		for range 10 {
			stop := s.start(t)
			synctest.Wait()
			stop()
			wantOutcomes(t, s.next(t, 1), eventual.Released)
		}
		wantEmpty(t, s.poison)
	})
}

func TestWorkerStopsIfNoRequestIsAnswered(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			b.Fault(storagetest.On("*").Delay(time.Hour)) // no request is answered from now on
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		stop := s.start(t)
		time.Sleep(time.Second)
		began := time.Now()
		stop()
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v to stop", took)
		}
	})
}

// lateDrainer leaves the late check of each outbox message.
type lateDrainer struct{}

func (lateDrainer) Handle(context.Context, patterns.OutboxMessage) (time.Duration, error) {
	return time.Hour, nil
}

// From the n-th request of a worker on, the service does not reply to any, for each n.
func TestRunReturnsInTimeWhicheverRequestHangs(t *testing.T) {
	for name, c := range map[string]struct {
		grace, within time.Duration
	}{
		"without grace": {-1, 5 * time.Second},
		"default":       {0, 25 * time.Second},
		"a minute":      {time.Minute, 65 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
				sample := harness.Sample(t, 3)
				for _, q := range []string{"*", "Queue.Get", "Queue.Put", "Queue.Update", "Queue.Delete", "Queue.CreateQueue", "Blob.Get", "Blob.Delete"} {
					for n := int64(1); ; n++ {
						if n > 1 && !sample(int(n)) {
							continue
						}
						hung, took := stopWithHungRequests(t, b, q, n, c.grace)
						if hung == 0 {
							if n == 1 {
								t.Errorf("no %s hung", q)
							}
							break
						}
						if took > c.within {
							t.Errorf("%s hangs from %d on: it took %v to stop, want %v", q, n, took, c.within)
						}
					}
				}
			})
		})
	}
}

// stopWithHungRequests stops a worker while its n-th request of a kind and all that follow hang. It returns the
// number of those that did, and how long the worker took to stop.
func stopWithHungRequests(t *testing.T, b *harness.Backend, pattern string, n int64, grace time.Duration) (hung int, took time.Duration) {
	payloads, late := b.Container(t), b.Queue(t)
	s := newFixture(t, b, func(o *eventual.Options) {
		o.Container, o.LateChecks, o.Grace, o.Visibility, o.Tries = payloads, late, grace, 30*time.Second, 2
		o.PollMin, o.PollMax = 5*time.Second, 5*time.Second
		o.Backoff = func(int) time.Duration { return 5 * time.Second }
	})
	assert.NoError(t, assert.ErrorOf(s.poison.Delete(t.Context(), nil)))
	eventual.Handle(s.worker, "full", func(context.Context, eventual.Job[string]) error { return nil })
	eventual.Handle(s.worker, "fails", func(context.Context, eventual.Job[string]) error { return errFails })
	eventual.Handle(s.worker, "slow", func(ctx context.Context, _ eventual.Job[string]) error {
		<-ctx.Done()
		return ctx.Err()
	})
	eventual.Every(s.worker, "task", time.Second, func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	eventual.HandleOutbox(s.worker, "", lateDrainer{})
	assert.Must(assert.Must(eventual.NewOutbox(s.queue, "", nil))(t).Put(t.Context(), patterns.OutboxMessage{ID: "op"}, 0))(t)
	s.put(t, "full", strings.Repeat("x", 60<<10), &eventual.EnqueueOptions{Container: payloads})
	s.put(t, "fails", "", nil)
	s.put(t, "slow", "", nil)

	b.ResetRequests()
	var seen atomic.Int64
	b.Fault(storagetest.On("*").Where(func(q storagetest.Request) bool {
		matches, _ := path.Match(pattern, q.Op) // the callers' patterns are valid
		return q.Op == "Queue.GetMetadata" || matches && seen.Add(1) >= n
	}).Delay(10000 * time.Hour))
	defer b.ClearFaults()
	stop := s.start(t)
	time.Sleep(25 * time.Second)
	began := time.Now()
	stop()
	took = time.Since(began)
	for _, q := range b.Requests() {
		if q.Fault != "" {
			hung++
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.queue.GetProperties(ctx, nil); err == nil {
		t.Error("no request hangs") // a rule has to act
	}
	return hung, took
}

func TestRunLeavesNoGoroutineBehind(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Visibility = time.Second })
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			if job.Message.To == "slow" {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		eventual.Every(s.worker, "task", time.Hour, func(context.Context) error { return nil })
		for range 20 {
			s.put(t, "letter", letter{}, nil)
		}
		s.put(t, "letter", letter{To: "slow"}, nil)
		stop := s.start(t)
		s.next(t, 20)
		s.worker.Abort()
		stop()
		// Run has waited for them; what ends a goroutine after that takes a moment.
		var left string
		for range 1000 {
			if left = packageGoroutines(); left == "" {
				return
			}
			runtime.Gosched()
		}
		t.Errorf("left behind:\n%s", left)
	})
}

// packageGoroutines are the stacks of the goroutines that the package has started.
func packageGoroutines() string {
	buf := make([]byte, 1<<20)
	var left []string
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "patterns/eventual.(") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}
