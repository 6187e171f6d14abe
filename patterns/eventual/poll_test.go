package eventual_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestIdleWorkerPollsLessOftenUntilAMessageArrives(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.PollMin, o.PollMax = 0, 0 })
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error { return nil })
		stop := s.start(t)
		time.Sleep(3 * time.Minute)
		at := requestTimes(b, "Queue.Get")
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
		// The poll that receives it, one immediately after it, and one after PollMin.
		if at := requestTimes(b, "Queue.Get"); len(at) < 3 || at[1] != at[0] || at[2]-at[1] > 400*time.Millisecond {
			t.Errorf("polls after a message: %v", at)
		}
		stop()
	})
}

func TestPollReceivesNoMoreMessagesThanHandlersAreFree(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for _, parallel := range []int{1, 3, 16, 40} {
			s := newFixture(t, b, func(o *eventual.Options) { o.Parallel = parallel })
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
			assert.Equal(t, int(most.Load()), parallel, "Parallel", "concurrently")
			polls := b.Requests().Only("Queue.Get")
			assert.Equal(t, polls[0].Returned, min(parallel, 32), "Parallel", parallel, "the first poll received")
			assert.Equal(t, len(messages(t, s.queue)), min(100-parallel, 32), "Parallel", parallel, "are visible")
			s.next(t, 100)
			stop()
			assert.Equal(t, int(most.Load()), parallel, "Parallel", "concurrently")
			wantEmpty(t, s.queue)
		}
	})
}

func TestEmptyPollIsOneRequest(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.PollMin, o.PollMax = time.Minute, time.Minute })
		stop := s.start(t)
		time.Sleep(time.Second)
		b.WantRequests(t, map[string]int{"Queue.Get": 1})
		stop()
		b.WantRequests(t, nil)
	})
}
