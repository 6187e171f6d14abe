package eventual_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// hostVisibility is how long the host of these tests hides a message.
const hostVisibility = 30 * time.Second

// host receives up to one message as a host does, and passes it to Process. It deletes the
// message if Process returned nil. received is false if there was no visible message.
func (s *fixture) host(t testing.TB, work *azqueue.QueueClient) (received bool, err error) {
	t.Helper()
	visibility := int32(hostVisibility / time.Second)
	resp, err := work.DequeueMessage(t.Context(), &azqueue.DequeueMessageOptions{VisibilityTimeout: &visibility})
	if err != nil || len(resp.Messages) == 0 {
		return false, err
	}
	m := resp.Messages[0]
	if err := s.worker.Process(t.Context(), *m.MessageText, int(*m.DequeueCount)); err != nil {
		return true, err
	}
	_, _ = work.DeleteMessage(t.Context(), *m.MessageID, *m.PopReceipt, nil)
	return true, nil
}

// hostOne returns a function that processes one message.
func (s *fixture) hostOne(t testing.TB) func() {
	return func() { _, _ = s.host(t, s.queue) }
}

// hostAll processes messages until the queue is empty.
func (s *fixture) hostAll(t testing.TB, work *azqueue.QueueClient) {
	t.Helper()
	for range 5000 { // 14 hours: each duplicate of an outbox message takes an hour
		if count(t, work) == 0 {
			return
		}
		if received, _ := s.host(t, work); !received {
			time.Sleep(10 * time.Second)
		}
	}
	wantEmpty(t, work)
}

func TestAHostedJobSurvivesEveryCrash(t *testing.T) {
	for name, size := range map[string]int{"small": 1, "through a blob": 60 << 10} {
		t.Run(name, func(t *testing.T) {
			crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
				payloads := b.Container(t)
				s := newFixture(t, b, func(o *eventual.Options) { o.Container = payloads })
				processed := 0
				eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
					processed++
					assert.Equal(t, len(job.Message), size, "bytes")
					return nil
				})
				s.put(t, "full", strings.Repeat("x", size), &eventual.EnqueueOptions{Container: payloads})
				return scenario{s.hostOne(t), func() { s.hostAll(t, s.queue) }, func(killed string) {
					most := 1
					if strings.HasPrefix(killed, "before") && strings.HasSuffix(killed, "Queue.Delete") {
						most = 2 // done, but not yet deleted
					}
					if processed < 1 || processed > most {
						t.Errorf("processed %d times", processed)
					}
					wantEmpty(t, s.poison)
				}}
			})
		})
	}
}

func TestAHostedJobIsMovedToPoisonWhereverItsProcessCrashes(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries = 1 })
		eventual.Handle(s.worker, "letter", fails)
		s.put(t, "letter", letter{To: "Ken"}, &eventual.EnqueueOptions{ID: "op"})
		return scenario{s.hostOne(t), func() { s.hostAll(t, s.queue) }, func(killed string) {
			dead := peek(t, s.poisonQueue(t))
			if len(dead) < 1 || len(dead) > 2 || killed == "never" && len(dead) != 1 {
				t.Errorf("%d poison messages", len(dead))
			}
			for _, d := range dead {
				if d.ID != "op" || string(d.Payload) != `{"To":"Ken","Text":""}` || d.Reason == "" {
					t.Errorf("got %+v", d)
				}
			}
		}}
	})
}

func TestAHostedSnoozeIsNeverLostWhereverItsProcessCrashes(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		s := newFixture(t, b, nil)
		snoozed, processed := false, 0
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			if !snoozed {
				snoozed = true
				return eventual.Snooze(time.Hour)
			}
			processed++
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		return scenario{s.hostOne(t), func() { s.hostAll(t, s.queue) }, func(string) {
			if processed < 1 || processed > 2 {
				t.Errorf("processed %d times", processed)
			}
			wantEmpty(t, s.poison)
		}}
	})
}

func TestAHostFinishesStoreOperationsWhereverTheWriterCrashes(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		s := newLateFixture(t, b, nil)
		store := s.fixture.newStore(t, s.Table(t), "")
		assert.NoError(t, assert.ErrorOf(store.Insert(t.Context(), ken("old"))))
		writer := func() {
			_, _ = store.Update(t.Context(), keyKen, func(m *member) error { m.Email = "new"; return nil })
		}
		return scenario{writer, func() {
			released(t, s.queue, store)
			s.hostAll(t, s.queue)
		}, func(string) {
			s.hostAll(t, s.late.queue) // the same functions may serve both queues
			s.hostAll(t, s.queue)
			wantFinished(t, store)
			wantEmpty(t, s.poison)
		}}
	})
}

func TestAHostFinishesStoreOperationsWhereverItCrashes(t *testing.T) {
	crashAtEveryRequest(t, func(t *testing.T, b *harness.Backend) scenario {
		s := newLateFixture(t, b, nil)
		store := s.fixture.newStore(t, s.Table(t), "")
		b.Fault(crashBefore(4)...)
		_, _ = store.Insert(t.Context(), ken("ken"))
		b.ClearFaults()
		time.Sleep(storeGrace)
		return scenario{s.hostOne(t), func() { s.hostAll(t, s.queue) }, func(string) {
			s.hostAll(t, s.late.queue)
			s.hostAll(t, s.queue)
			wantFinished(t, store)
			wantEmpty(t, s.poison)
		}}
	})
}

func TestProcessReturnsAnErrorUntilTheAttemptsAreExhausted(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries = 3 })
		var attempts []int
		eventual.Handle(s.worker, "letter", func(_ context.Context, job eventual.Job[letter]) error {
			attempts = append(attempts, job.Attempt)
			return errFails
		})
		s.put(t, "letter", letter{}, nil)
		for attempt := 1; attempt <= 3; attempt++ {
			received, err := s.host(t, s.queue)
			if last := attempt == 3; !received || errors.Is(err, errFails) == last || (err == nil) != last {
				t.Fatalf("attempt %d: %t, %v", attempt, received, err)
			}
			time.Sleep(hostVisibility)
		}
		assert.EqualSlices(t, attempts, []int{1, 2, 3}, "attempts")
		wantOutcomes(t, s.next(t, 3), eventual.Retrying, eventual.Retrying, eventual.Poisoned)
		wantEmpty(t, s.queue)
		if dead := peek(t, s.poisonQueue(t)); len(dead) != 1 || dead[0].Attempts != 3 {
			t.Errorf("got %+v", dead)
		}
	})
}

func TestAHostedSnoozeKeepsTheNumberOfTheAttempt(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries = 3 })
		var attempts []int
		eventual.Handle(s.worker, "letter", func(_ context.Context, job eventual.Job[letter]) error {
			if attempts = append(attempts, job.Attempt); len(attempts)%2 == 0 {
				return eventual.Snooze(time.Minute)
			}
			return errFails
		})
		s.put(t, "letter", letter{}, nil)
		s.hostAll(t, s.queue)
		assert.EqualSlices(t, attempts, []int{1, 2, 2, 3, 3}, "attempts")
		if dead := peek(t, s.poisonQueue(t)); len(dead) != 1 || dead[0].Attempts != 3 {
			t.Errorf("got %+v", dead)
		}
	})
}

// processing is a call of Process, its requests and its result.
type processing struct {
	name    string
	handler error
	fault   []storagetest.Rule
	change  func(*eventual.Options)
	ops     []string
	outcome eventual.Outcome
	wantErr bool
}

func TestProcessTakesTheDocumentedRequests(t *testing.T) {
	refuse := []storagetest.Rule{storagetest.On("Queue.Put").Times(storagetest.Forever).Status(403, "AuthorizationFailure")}
	noPoison := func(o *eventual.Options) { o.Poison = nil }
	once := func(o *eventual.Options) { o.Tries = 1 }
	for _, p := range []processing{
		{name: "done", outcome: eventual.Done},
		{name: "failed", handler: errFails, outcome: eventual.Retrying, wantErr: true},
		{name: "cancelled", handler: eventual.Cancel("", errFails), ops: []string{"Queue.Put"}, outcome: eventual.Poisoned},
		{name: "cancelled, refused", handler: eventual.Cancel("", errFails), fault: refuse, ops: []string{"Queue.Put"}, outcome: eventual.Retrying, wantErr: true},
		{name: "cancelled, no poison queue", handler: eventual.Cancel("", errFails), change: noPoison, outcome: eventual.Retrying, wantErr: true},
		{name: "last attempt", handler: errFails, change: once, ops: []string{"Queue.Put"}, outcome: eventual.Poisoned},
		{name: "snoozed", handler: eventual.Snooze(time.Minute), ops: []string{"Queue.Put"}, outcome: eventual.Snoozed},
		{name: "snoozed, refused", handler: eventual.Snooze(time.Minute), fault: refuse, ops: []string{"Queue.Put"}, outcome: eventual.Retrying, wantErr: true},
	} {
		t.Run(p.name, func(t *testing.T) {
			harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
				s := newFixture(t, b, p.change)
				eventual.Handle(s.worker, eventual.Raw, func(context.Context, eventual.Job[string]) error { return p.handler })
				b.ResetRequests()
				b.Fault(p.fault...)
				err := s.worker.Process(t.Context(), "Dear Ken", 0)
				log := b.Requests()
				b.ClearFaults()
				assert.Equal(assert.Now(t), err != nil, p.wantErr)
				assert.Equal(t, fmt.Sprint(log.Ops()), fmt.Sprint(p.ops))
				wantOutcomes(t, s.next(t, 1), p.outcome)
			})
		})
	}
}

func TestAMessageThatCannotBeReadIsPoisonOrATypedError(t *testing.T) {
	for name, text := range map[string]string{
		"later version":   `{"azp":2,"id":"op","kind":"letter","body":{}}`,
		"damaged":         `{"azp":1,"id":"op","kind":"letter"}`,
		"not a letter":    `{"azp":1,"id":"op","kind":"letter","body":"no object"}`,
		"base64, damaged": base64.StdEncoding.EncodeToString([]byte(`{"azp":1,"id":7}`)),
	} {
		t.Run(name, func(t *testing.T) {
			for _, poison := range []bool{true, false} {
				harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
					s := newFixture(t, b, func(o *eventual.Options) {
						if !poison {
							o.Poison = nil
						}
					})
					eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
						t.Error("called")
						return nil
					})
					err := s.worker.Process(t.Context(), text, 1)
					if poison != (err == nil) || !poison && !errors.Is(err, eventual.ErrBadMessage) {
						t.Errorf("poison %t: %v", poison, err)
					}
					if e := s.next(t, 1)[0]; !errors.Is(e.Err, eventual.ErrBadMessage) {
						t.Errorf("event %+v", e)
					}
					if poison && len(peek(t, s.poisonQueue(t))) != 1 {
						t.Error("no poison message")
					}
				})
			}
		})
	}
}

func TestAHostedMessageThatEnqueueDidNotWriteIsReplayedUnchanged(t *testing.T) {
	decodeKind := func(text string) (string, []byte, error) { return "order", []byte(text), nil }
	for name, c := range map[string]struct {
		text, kind string
		decode     func(string) (string, []byte, error)
	}{
		"raw":     {"order 17", eventual.Raw, nil},
		"decoded": {"17", "order", decodeKind},
		"damaged": {`{"azp":1,"id":"op","kind":"order"}`, eventual.Raw, nil},
	} {
		t.Run(name, func(t *testing.T) {
			harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
				s := newFixture(t, b, func(o *eventual.Options) { o.Tries, o.Decode = 1, c.decode })
				eventual.Handle(s.worker, eventual.Raw, func(context.Context, eventual.Job[string]) error { return errFails })
				eventual.Handle(s.worker, "order", func(context.Context, eventual.Job[string]) error { return errFails })
				assert.NoError(t, s.worker.Process(t.Context(), c.text, 1))
				stored := messages(t, s.poison)
				takeAll(t, s.poisonQueue(t), func(m *eventual.PoisonMessage) {
					if m.ID != *stored[0].MessageID || m.Kind != c.kind || m.Reason == "" || m.Attempts != 1 || string(m.Payload) != c.text {
						t.Errorf("got %+v with payload %s", m, m.Payload)
					}
					assert.NoError(t, s.poisonQueue(t).Replay(t.Context(), m))
				})
				assert.Equal(t, *messages(t, s.queue)[0].MessageText, c.text, "replayed")
				wantEmpty(t, s.poison)
			})
		})
	}
}

func TestAWorkerOfAPoisonQueueReadsTheCopiesOfProcess(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries = 1 })
		eventual.Handle(s.worker, eventual.Raw, func(context.Context, eventual.Job[string]) error { return errFails })
		assert.NoError(t, s.worker.Process(t.Context(), "order 17", 1))
		second := newFixtureOn(t, b, s.poison, b.Queue(t), func(o *eventual.Options) { o.Tries = 1 })
		id := *messages(t, s.poison)[0].MessageID
		eventual.Handle(second.worker, eventual.Raw, func(_ context.Context, job eventual.Job[string]) error {
			assert.Equal(t, job.ID, id)
			assert.Equal(t, job.Message, "order 17")
			return errFails
		})
		wantOutcomes(t, second.until(t, 1), eventual.Poisoned)
		if dead := peek(t, second.poisonQueue(t)); len(dead) != 1 || dead[0].ID != id || string(dead[0].Payload) != "order 17" {
			t.Errorf("got %+v", dead)
		}
	})
}

func TestADuplicateDeliveryHasTheSameIDAndPlainTextIsTheSameAsBase64(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		var ids []string
		eventual.Handle(s.worker, "letter", func(_ context.Context, job eventual.Job[letter]) error {
			ids = append(ids, job.ID+" "+job.Message.To)
			return nil
		})
		const text = `{"azp":1,"id":"op","kind":"letter","body":{"To":"Ken"}}`
		for _, delivery := range []string{text, text, base64.StdEncoding.EncodeToString([]byte(text))} {
			assert.NoError(t, s.worker.Process(t.Context(), delivery, 1))
		}
		assert.EqualSlices(t, ids, []string{"op Ken", "op Ken", "op Ken"})
	})
}

func TestTheDeadlineOfAHostDoesNotUseUpTheLastAttempt(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries = 1 })
		eventual.Handle(s.worker, eventual.Raw, func(ctx context.Context, _ eventual.Job[string]) error {
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.WantError(t, s.worker.Process(ctx, "Dear Ken", 1), context.DeadlineExceeded)
		wantOutcomes(t, s.next(t, 1), eventual.Released)
		wantEmpty(t, s.poison)
	})
}

func TestAHostThatStopsDoesNotUseUpTheLastAttempt(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries = 1 })
		ctx, stop := context.WithCancel(t.Context())
		eventual.Handle(s.worker, eventual.Raw, func(ctx context.Context, _ eventual.Job[string]) error {
			stop()
			return ctx.Err()
		})
		for range 2 { // the second time the context has ended before
			assert.Failed(t, s.worker.Process(ctx, "Dear Ken", 1), "no error")
		}
		wantOutcomes(t, s.next(t, 2), eventual.Released, eventual.Released)
		wantEmpty(t, s.poison)
	})
}

func TestTheCopyOfADecodedMessageHasItsContent(t *testing.T) {
	const ring = "ring the bell \a and \ufffe"
	for name, text := range map[string]string{
		"plain": "Dear Ken", "base64": base64.StdEncoding.EncodeToString([]byte(ring)), "decoded from base64": ring,
	} {
		t.Run(name, func(t *testing.T) {
			harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
				s := newFixture(t, b, nil)
				var got []string
				eventual.Handle(s.worker, eventual.Raw, func(_ context.Context, job eventual.Job[string]) error {
					if got = append(got, job.Message); len(got) == 1 {
						return eventual.Snooze(0)
					}
					return nil
				})
				assert.NoError(t, s.worker.Process(t.Context(), text, 1))
				s.hostAll(t, s.queue)
				if want := string(eventual.Text(text)); !slices.Equal(got, []string{want, want}) {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

func TestProcessRefusesAWorkerThatIsNotComplete(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "two words", fails)
		b.ResetRequests()
		assert.WantError(t, s.worker.Process(t.Context(), "", 1), eventual.ErrBadKind)
		for _, w := range []*eventual.Worker{nil, new(eventual.Worker)} {
			assert.WantError(t, w.Process(t.Context(), "", 1), patterns.ErrNil)
		}
		if n := len(b.Requests()); n != 0 || len(s.events) != 0 {
			t.Errorf("%d requests, %d events", n, len(s.events))
		}
	})
}

func ExampleWorker_Process() {
	worker, err := eventual.NewWorker(newQueue(storagetest.Start(nil), "jobs"), nil)
	if err != nil {
		fmt.Println(err)
	}
	eventual.Handle(worker, eventual.Raw, func(_ context.Context, job eventual.Job[string]) error {
		fmt.Println("attempt", job.Attempt, job.Message)
		return nil
	})
	// A host has received a message, for the second time.
	if err := worker.Process(context.Background(), "Dear Ken", 2); err != nil {
		fmt.Println("the host delivers it again:", err)
	}
	// Output:
	// attempt 2 Dear Ken
}
