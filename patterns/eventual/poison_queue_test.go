package eventual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

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
				if err := s.poisonQueue(t).Replay(t.Context(), d); err != nil {
					t.Error(err)
				}
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
			if _, err := s.queue.EnqueueMessage(t.Context(), text, nil); err != nil {
				t.Fatal(err)
			}
		}
		s.until(t, len(texts))
		wantEmpty(t, s.queue)
		p := s.poisonQueue(t)
		takeAll(t, p, func(d *eventual.PoisonMessage) {
			if err := p.Replay(t.Context(), d); err != nil {
				t.Error(err)
			}
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
			if n != 0 {
				t.Errorf("%d missing of %.20q", n, text)
			}
		}
	})
}

func TestMessagesThatOtherHostsMovedToPoisonAreReplayed(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error { return nil })
		s.put(t, "letter", letter{To: "Jun"}, nil)
		text := *messages(t, s.queue)[0].MessageText
		if _, err := s.queue.ClearMessages(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.poison.EnqueueMessage(t.Context(), text, nil); err != nil {
			t.Fatal(err)
		}
		p := s.poisonQueue(t)
		takeAll(t, p, func(d *eventual.PoisonMessage) {
			if d.Reason != "" || d.Attempts != 0 || !strings.Contains(string(d.Payload), "Jun") {
				t.Errorf("got %+v", d)
			}
			if err := p.Replay(t.Context(), d); err != nil {
				t.Error(err)
			}
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
				if err := p.Discard(t.Context(), d); err != nil {
					t.Error(err)
				}
			}
		})
		b.WantRequests(t, map[string]int{"Queue.Get": 4, "Queue.Delete": 10, "Queue.Update": 60})
		for i := range 70 {
			if n := got[fmt.Sprint(i)]; n != 1 {
				t.Errorf("message %d was returned %d times", i, n)
			}
		}
		i = 0
		takeAll(t, p, func(*eventual.PoisonMessage) { i++ }) // the released messages are visible immediately
		if i != 60 {
			t.Errorf("%d remain", i)
		}
		for range p.Take(t.Context()) {
			break
		}
		if n := len(peek(t, p)); n != 32 {
			t.Errorf("%d visible after a break", n)
		}
	})
}

// A slow loop receives the first messages again, together with the rest.
func TestTakeReturnsEveryMessageOnceToASlowLoop(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		for i := range 100 {
			if _, err := s.poison.EnqueueMessage(t.Context(), fmt.Sprint(i), nil); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]int{}
		takeAll(t, s.poisonQueue(t), func(d *eventual.PoisonMessage) {
			got[string(d.Payload)]++
			time.Sleep(4 * time.Second)
		})
		for i := range 100 {
			if n := got[fmt.Sprint(i)]; n != 1 {
				t.Errorf("message %d was returned %d times", i, n)
			}
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
		if err := p.Replay(t.Context(), d); !errors.Is(err, eventual.ErrNotLeased) {
			t.Errorf("replay: %v", err)
		}
		if err := p.Discard(t.Context(), d); !errors.Is(err, eventual.ErrNotLeased) {
			t.Errorf("discard: %v", err)
		}
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
