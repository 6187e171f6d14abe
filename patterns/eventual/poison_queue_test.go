package eventual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func TestReplayedMessageIsProcessedLikeANewOne(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries = 2 })
		works, calls := false, 0
		var jobs []eventual.Job[letter]
		eventual.Handle(s.worker, "letter", func(ctx context.Context, job eventual.Job[letter]) error {
			if calls++; calls == 1 {
				return eventual.Snooze(0)
			}
			jobs = append(jobs, job)
			if !works || len(jobs) == 1 {
				return errFails
			}
			return nil
		})
		s.put(t, "letter", letter{To: "Ken"}, &eventual.EnqueueOptions{ID: "op"})
		wantOutcomes(t, s.until(t, 3), eventual.Snoozed, eventual.Retrying, eventual.Poisoned)

		works, jobs = true, nil
		b.ResetRequests()
		takeAll(t, s.poisonQueue(t), func(d *eventual.PoisonMessage) {
			for range 2 { // the second call does nothing
				assert.Equal(t, s.poisonQueue(t).Replay(t.Context(), d), nil)
			}
		})
		b.WantRequests(t, map[string]int{"Queue.Get": 2, "Queue.Put": 1, "Queue.Delete": 1})
		wantOutcomes(t, s.until(t, 2), eventual.Retrying, eventual.Done)
		for i, j := range jobs {
			if j.Message.To != "Ken" || j.ID != "op" || j.Attempt != i+1 {
				t.Errorf("got %+v", j)
			}
		}
		wantEmpty(t, s.queue)
		wantEmpty(t, s.poison)
	})
}

func TestForeignMessagesAreReplayedUnchanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		texts := []string{"plain", "cGxhaW4=", `{"azp":9}`, strings.Repeat("x", 64<<10), strings.Repeat("<", 40<<10), " spaces ", ""}
		for _, text := range texts {
			assert.NoError(t, assert.ErrorOf(s.queue.EnqueueMessage(t.Context(), text, nil)))
		}
		s.until(t, len(texts))
		wantEmpty(t, s.queue)
		p := s.poisonQueue(t)
		takeAll(t, p, func(d *eventual.PoisonMessage) {
			assert.Equal(t, p.Replay(t.Context(), d), nil)
		})
		wantEmpty(t, s.poison)
		left := map[string]int{}
		for _, text := range texts {
			left[text]++
		}
		for _, m := range messages(t, s.queue) {
			left[*m.MessageText]--
		}
		for text, n := range left {
			assert.Equal(t, n, 0, "missing of", text)
		}
	})
}

func TestMessagesThatOtherHostsMovedToPoisonAreReplayed(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error { return nil })
		s.put(t, "letter", letter{To: "Jun"}, nil)
		text := *messages(t, s.queue)[0].MessageText
		assert.NoError(t, assert.ErrorOf(s.queue.ClearMessages(t.Context(), nil)))
		assert.NoError(t, assert.ErrorOf(s.poison.EnqueueMessage(t.Context(), text, nil)))
		p := s.poisonQueue(t)
		takeAll(t, p, func(d *eventual.PoisonMessage) {
			if d.Reason != "" || d.Attempts != 0 || !strings.Contains(string(d.Payload), "Jun") {
				t.Errorf("got %+v", d)
			}
			assert.Equal(t, p.Replay(t.Context(), d), nil)
		})
		wantOutcomes(t, s.until(t, 1), eventual.Done)
	})
}

func TestTakeReturnsEveryMessageOnceAndReleasesTheRest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		for i := range 70 {
			s.put(t, "parcel", i, nil)
		}
		s.until(t, 70)
		p := s.poisonQueue(t)
		b.ResetRequests()
		got := map[string]int{}
		i := 0
		takeAll(t, p, func(d *eventual.PoisonMessage) {
			got[string(d.Payload)]++
			if i++; i%7 == 0 {
				assert.Equal(t, p.Discard(t.Context(), d), nil)
			}
		})
		b.WantRequests(t, map[string]int{"Queue.Get": 4, "Queue.Delete": 10, "Queue.Update": 60})
		for i := range 70 {
			assert.Equal(t, got[fmt.Sprint(i)], 1, "message", i, "was returned", "times")
		}
		i = 0
		takeAll(t, p, func(*eventual.PoisonMessage) { i++ }) // the released messages are visible immediately
		assert.Equal(t, i, 60, "remain")
		for range p.Take(t.Context()) {
			break
		}
		assert.Equal(t, len(peek(t, p)), 32, "visible after a break")
	})
}

// A slow loop receives the first messages again, together with the rest.
func TestTakeReturnsEveryMessageOnceToASlowLoop(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		for i := range 100 {
			assert.NoError(t, assert.ErrorOf(s.poison.EnqueueMessage(t.Context(), fmt.Sprint(i), nil)))
		}
		got := map[string]int{}
		takeAll(t, s.poisonQueue(t), func(d *eventual.PoisonMessage) {
			got[string(d.Payload)]++
			time.Sleep(4 * time.Second)
		})
		for i := range 100 {
			assert.Equal(t, got[fmt.Sprint(i)], 1, "message", i, "was returned", "times")
		}
	})
}

func TestPeekedMessageCannotBeChanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		s.put(t, "parcel", 1, nil)
		s.until(t, 1)
		p := s.poisonQueue(t)
		b.ResetRequests()
		d := peek(t, p)[0]
		b.WantRequests(t, map[string]int{"Queue.Peek": 1})
		assert.WantError(t, p.Replay(t.Context(), d), eventual.ErrNotLeased, "replay")
		assert.WantError(t, p.Discard(t.Context(), d), eventual.ErrNotLeased, "discard")
		b.WantRequests(t, nil)
	})
}

func TestPoisonMessageLeasedByAnotherClientIsNotChanged(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		s.put(t, "parcel", 1, nil)
		s.put(t, "parcel", 2, nil)
		s.until(t, 2)
		p := s.poisonQueue(t)
		i := 0
		takeAll(t, p, func(pm *eventual.PoisonMessage) {
			do := [](func(context.Context, *eventual.PoisonMessage) error){p.Replay, p.Discard}[i]
			if i++; i == 1 {
				time.Sleep(6 * time.Minute)
			}
			takeAll(t, p, func(*eventual.PoisonMessage) {}) // changes its pop receipt
			if err := do(t.Context(), pm); i == 1 && !errors.Is(err, eventual.ErrLeaseLost) {
				t.Errorf("got %v", err)
			}
		})
		wantEmpty(t, s.queue)
	})
}
