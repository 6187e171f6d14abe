package eventual_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestAStoppedWorkerFinishesWhatItHasBegun(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, nil)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			time.Sleep(20 * time.Second)
			return ctx.Err()
		})
		s.put(t, "letter", letter{}, nil)
		stop := s.start(t)
		time.Sleep(time.Second)
		s.put(t, "letter", letter{}, &eventual.EnqueueOptions{Delay: time.Second}) // comes too late
		began := time.Now()
		stop()
		if took := time.Since(began); took != 19*time.Second {
			t.Errorf("it took %v to stop", took)
		}
		wantOutcomes(t, s.next(t, 1), eventual.Done)
		if n := count(t, s.queue); n != 1 {
			t.Errorf("%d messages are left", n)
		}
	})
}

func TestHandlersThatOutlastTheGraceTimeAreEndedAndTheirMessagesGivenBack(t *testing.T) {
	stops := map[string]struct {
		grace time.Duration
		stop  func(s *bench, stop func())
		after time.Duration
	}{
		"default":     {0, func(s *bench, stop func()) { stop() }, 30 * time.Second},
		"five":        {5 * time.Second, func(s *bench, stop func()) { stop() }, 5 * time.Second},
		"none":        {-1, func(s *bench, stop func()) { stop() }, 0},
		"abort":       {time.Hour, func(s *bench, stop func()) { s.worker.Abort(); stop() }, 0},
		"abort later": {time.Hour, func(s *bench, stop func()) { time.AfterFunc(7*time.Second, s.worker.Abort); stop() }, 7 * time.Second},
	}
	for name, c := range stops {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
				s := newBench(t, b, func(o *eventual.Options) { o.Grace = c.grace })
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
					t.Errorf("the handler was told %v", cause)
				}
				wantOutcomes(t, s.next(t, 1), eventual.Released)
				// The next worker has it at once, and the attempt did not count.
				next := benchOn(t, b, s.queue, s.poison, nil)
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

func TestMessagesThatArriveAfterTheStopAreGivenBackUnbegun(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, nil)
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
		stop() // while the poll is under way
		for _, e := range s.next(t, 5) {
			if e.Outcome != eventual.Released {
				t.Errorf("%v", e.Outcome)
			}
		}
		if n := len(messages(t, s.queue)); n != 5 {
			t.Errorf("%d messages can be seen", n)
		}
	})
}

func TestAMessageThatIsGivenBackOftenIsNotPoisoned(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, func(o *eventual.Options) { o.Grace = -1 })
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

func TestTheWorkerStopsThoughNoRequestComesThrough(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newBench(t, b, nil)
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			b.Fault(fault.On("*").Delay(time.Hour)) // the network hangs from now on
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
