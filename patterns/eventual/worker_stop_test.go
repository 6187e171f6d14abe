package eventual_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/eventual"
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
		if took := time.Since(began); took != 19*time.Second {
			t.Errorf("it took %v to stop", took)
		}
		wantOutcomes(t, s.next(t, 1), eventual.Done)
		if n := count(t, s.queue); n != 1 {
			t.Errorf("%d messages remain", n)
		}
	})
}

func TestHandlersAreCancelledAfterTheGraceTimeAndTheirMessagesReleased(t *testing.T) {
	stops := map[string]struct {
		grace time.Duration
		stop  func(s *fixture, stop func())
		after time.Duration
	}{
		"default":     {0, func(s *fixture, stop func()) { stop() }, 30 * time.Second},
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
				if took := time.Since(began); took != c.after {
					t.Errorf("it took %v to stop", took)
				}
				if !errors.Is(cause, eventual.ErrStopped) {
					t.Errorf("the cause was %v", cause)
				}
				wantOutcomes(t, s.next(t, 1), eventual.Released)
				// Another worker receives the message immediately, and the attempt did not count.
				next := newFixtureOn(t, b, s.queue, s.poison, nil)
				eventual.Handle(next.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
					if job.Attempt != 1 {
						t.Errorf("attempt %d", job.Attempt)
					}
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
		b.Fault(fault.On("Queue.Get").DelayReply(10 * time.Second))
		stop := s.start(t)
		time.Sleep(time.Second)
		stop() // during the poll
		for _, e := range s.next(t, 5) {
			if e.Outcome != eventual.Released {
				t.Errorf("%v", e.Outcome)
			}
		}
		if n := len(messages(t, s.queue)); n != 5 {
			t.Errorf("%d messages are visible", n)
		}
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
			b.Fault(fault.On("*").Delay(time.Hour)) // no request is answered from now on
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
