package eventual_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestAJobReachesItsHandlerAsItWasPut(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
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
		if got.Message != want {
			t.Errorf("got %q", got.Message)
		}
		if got.ID != "op-1" || got.Kind != "letter" || got.Attempt != 1 || got.Enqueued.Before(before) {
			t.Errorf("got %+v", got)
		}
		wantEmpty(t, s.queue)
		wantEmpty(t, s.poison)
	})
}

func TestAFailedAttemptIsFollowedByTheNextUntilItWorks(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
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
		wantOutcomes(t, es, eventual.Retrying, eventual.Retrying, eventual.Done)
		if !errors.Is(es[0].Err, errFails) {
			t.Errorf("the first ended with %v", es[0].Err)
		}
		var p *eventual.PanicError
		if !errors.As(es[1].Err, &p) || p.Value != "at the post office" || len(p.Stack) == 0 {
			t.Errorf("the second ended with %v", es[1].Err)
		}
		wantEmpty(t, s.queue)
		wantEmpty(t, s.poison)
	})
}
