package eventual_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestAJobCostsAPollAndADelete(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.PollMin, o.PollMax = time.Hour, time.Hour })
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error { return nil })
		for range 16 {
			s.put(t, "letter", letter{}, nil)
		}
		b.ResetRequests()
		s.until(t, 16)
		// One poll for all, and at most one that finds nothing while they are at work.
		log := b.Requests()
		polls := log.Count("Queue.Get")
		if log[0].Op != "Queue.Get" || polls > 2 || log.Count("Queue.Delete") != 16 || len(log) != 16+polls {
			t.Errorf("requests\n%v", log)
		}
	})
}

func TestAnEmptyPollIsOneRequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.PollMin, o.PollMax = time.Minute, time.Minute })
		stop := s.start(t)
		time.Sleep(time.Second)
		wantRequests(t, b, map[string]int{"Queue.Get": 1})
		stop()
		wantRequests(t, b, nil)
	})
}

// What each end of a delivery costs beside the poll.
func TestEveryOutcomeHasItsPrice(t *testing.T) {
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
		"poisoned":        {eventual.Cancel(errFails), 1, eventual.Poisoned, map[string]int{"Queue.Put": 1, "Queue.Delete": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
				blobsOf := b.Container(t)
				s := newFixture(t, b, func(o *eventual.Options) {
					o.PollMin, o.PollMax = time.Hour, time.Hour
					o.Parallel = 1
					o.Container = blobsOf
					o.Backoff = nil
				})
				eventual.Handle(s.worker, "full", func(context.Context, eventual.Job[string]) error { return c.result })
				s.put(t, "full", strings.Repeat("x", c.size), &eventual.EnqueueOptions{Container: blobsOf})
				b.ResetRequests()
				wantOutcomes(t, s.until(t, 1), c.outcome)
				log := b.Requests()
				polls := log.Count("Queue.Get")
				if polls > 2 { // one may come after the job, before the worker is stopped
					t.Errorf("%d polls", polls)
				}
				total := polls
				for op, n := range c.want {
					total += n
					if got := log.Count(op); got != n {
						t.Errorf("%d requests %s, want %d", got, op, n)
					}
				}
				if len(log) != total {
					t.Errorf("%d requests, want %d:\n%v", len(log), total, log)
				}
			})
		})
	}
}
