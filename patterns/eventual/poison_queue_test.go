package eventual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

func (s *fixture) tools(t testing.TB) *eventual.PoisonQueue {
	t.Helper()
	p, err := s.worker.PoisonQueue()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func peek(t testing.TB, p *eventual.PoisonQueue) []*eventual.PoisonMessage {
	t.Helper()
	dead, err := p.Peek(t.Context(), 32)
	if err != nil {
		t.Fatal(err)
	}
	return dead
}

func taken(t testing.TB, p *eventual.PoisonQueue, each func(*eventual.PoisonMessage)) {
	t.Helper()
	for d, err := range p.Take(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		each(d)
	}
}

func TestAReplayedMessageIsHandledAsIfItWereNew(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.MaxAttempts = 2 })
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
		taken(t, s.tools(t), func(d *eventual.PoisonMessage) {
			for range 2 { // the second does nothing
				if err := s.tools(t).Replay(t.Context(), d); err != nil {
					t.Error(err)
				}
			}
		})
		wantRequests(t, b, map[string]int{"Queue.Get": 2, "Queue.Put": 1, "Queue.Delete": 1})
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

func TestMessagesOfOthersAreReplayedLetterForLetter(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, nil)
		texts := []string{"plain", "cGxhaW4=", `{"azp":9}`, strings.Repeat("x", 64<<10), strings.Repeat("<", 40<<10), " spaces ", ""}
		for _, text := range texts {
			if _, err := s.queue.EnqueueMessage(t.Context(), text, nil); err != nil {
				t.Fatal(err)
			}
		}
		s.until(t, len(texts))
		wantEmpty(t, s.queue)
		p := s.tools(t)
		taken(t, p, func(d *eventual.PoisonMessage) {
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
				t.Errorf("%d too few of %.20q", n, text)
			}
		}
	})
}

func TestMessagesThatOtherHostsBuriedAreReplayedToo(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
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
		p := s.tools(t)
		taken(t, p, func(d *eventual.PoisonMessage) {
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

func TestTakeShowsEveryPoisonMessageOnceAndLeavesTheRest(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, nil)
		for i := range 70 {
			s.put(t, "parcel", i, nil)
		}
		s.until(t, 70)
		p := s.tools(t)
		b.ResetRequests()
		got := map[string]int{}
		i := 0
		taken(t, p, func(d *eventual.PoisonMessage) {
			got[string(d.Payload)]++
			if i++; i%7 == 0 {
				if err := p.Discard(t.Context(), d); err != nil {
					t.Error(err)
				}
			}
		})
		wantRequests(t, b, map[string]int{"Queue.Get": 4, "Queue.Delete": 10, "Queue.Update": 60})
		for i := range 70 {
			if n := got[fmt.Sprint(i)]; n != 1 {
				t.Errorf("message %d came %d times", i, n)
			}
		}
		i = 0
		taken(t, p, func(*eventual.PoisonMessage) { i++ }) // all that are left, at once
		if i != 60 {
			t.Errorf("%d are left", i)
		}
		for range p.Take(t.Context()) {
			break
		}
		if n := len(peek(t, p)); n != 32 {
			t.Errorf("%d to be seen after a loop that broke off", n)
		}
	})
}

// A loop that takes long is shown again what it took first, among the rest.
func TestTakeShowsTheRestToASlowLoopToo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, nil)
		for i := range 100 {
			if _, err := s.poison.EnqueueMessage(t.Context(), fmt.Sprint(i), nil); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]int{}
		taken(t, s.tools(t), func(d *eventual.PoisonMessage) {
			got[string(d.Payload)]++
			time.Sleep(4 * time.Second)
		})
		for i := range 100 {
			if n := got[fmt.Sprint(i)]; n != 1 {
				t.Errorf("message %d came %d times", i, n)
			}
		}
	})
}

func TestAListedMessageCannotBeChanged(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, nil)
		s.put(t, "parcel", 1, nil)
		s.until(t, 1)
		p := s.tools(t)
		b.ResetRequests()
		d := peek(t, p)[0]
		wantRequests(t, b, map[string]int{"Queue.Peek": 1})
		if err := p.Replay(t.Context(), d); !errors.Is(err, eventual.ErrNotLeased) {
			t.Errorf("replay: %v", err)
		}
		if err := p.Discard(t.Context(), d); !errors.Is(err, eventual.ErrNotLeased) {
			t.Errorf("discard: %v", err)
		}
		wantRequests(t, b, nil)
	})
}

func TestAPoisonMessageThatSomebodyElseTookIsLeftToThem(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *testbed.Backend) {
		s := newFixture(t, b, nil)
		s.put(t, "parcel", 1, nil)
		s.put(t, "parcel", 2, nil)
		s.until(t, 2)
		p := s.tools(t)
		i := 0
		taken(t, p, func(mine *eventual.PoisonMessage) {
			do := [](func(context.Context, *eventual.PoisonMessage) error){p.Replay, p.Discard}[i]
			if i++; i == 1 {
				time.Sleep(6 * time.Minute)
			}
			taken(t, p, func(*eventual.PoisonMessage) {}) // gives it a new receipt
			if err := do(t.Context(), mine); i == 1 && !errors.Is(err, eventual.ErrLeaseLost) {
				t.Errorf("got %v", err)
			}
		})
		wantEmpty(t, s.queue)
	})
}
