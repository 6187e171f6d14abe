package eventual_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type streetError struct{ name string }

func (e *streetError) Error() string { return "no " + e.name }

func fails(ctx context.Context, job eventual.Job[letter]) error { return errFails }

func TestUnprocessableMessageIsMovedToPoisonWithItsReason(t *testing.T) {
	raw := func(text string) func(testing.TB, *fixture) {
		return func(t testing.TB, s *fixture) {
			assert.NoError(t, assert.ErrorOf(s.queue.EnqueueMessage(context.Background(), text, nil)))
		}
	}
	job := func(kind string, msg any) func(testing.TB, *fixture) {
		return func(t testing.TB, s *fixture) { s.put(t, kind, msg, &eventual.EnqueueOptions{ID: "op"}) }
	}
	cases := map[string]struct {
		put      func(testing.TB, *fixture)
		reason   string
		attempts int
		kind, id string
		payload  string
	}{
		"fails":        {job("letter", letter{To: "a"}), errFails.Error(), 5, "letter", "op", `{"To":"a","Text":""}`},
		"panics":       {job("panic", 1), "handler panicked: error of type *errors.errorString", 5, "panic", "op", "1"},
		"nil pointer":  {job("nil", 1), "handler panicked: runtime error: invalid memory address or nil pointer dereference", 5, "nil", "op", "1"},
		"Goexit":       {job("goexit", 1), "handler ended its goroutine", 5, "goexit", "op", "1"},
		"cancelled":    {job("cancel", 1), "no such street", 1, "cancel", "op", "1"},
		"no handler":   {job("parcel", 1), `no handler for kind "parcel"`, 1, "parcel", "op", "1"},
		"other type":   {job("letter", []int{1}), `bad message: payload: JSON: offset 1: no eventual_test.letter`, 1, "letter", "op", "[1]"},
		"newer":        {raw(`{"azp":2,"id":"x","kind":"letter"}`), "bad message: it has a later version than 1, which this worker knows", 1, eventual.Raw, "", `{"azp":2,"id":"x","kind":"letter"}`},
		"damaged":      {raw(`{"azp":1,"id":"x","kind":"letter"}`), "bad message: damaged: a member is missing or invalid", 1, eventual.Raw, "", `{"azp":1,"id":"x","kind":"letter"}`},
		"damaged more": {raw(`{"azp":1,"id":7,"kind":"letter"}`), `bad message: damaged: JSON: offset 15: no string in field "id"`, 1, eventual.Raw, "", `{"azp":1,"id":7,"kind":"letter"}`},
		"plain":        {raw("hello <you>"), `no handler for kind "azp.raw"`, 1, eventual.Raw, "", "hello <you>"},
		"base64":       {raw("aGVsbG8gPHlvdT4="), `no handler for kind "azp.raw"`, 1, eventual.Raw, "", "hello <you>"},
		"empty":        {raw(""), `no handler for kind "azp.raw"`, 1, eventual.Raw, "", ""},
	}
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				s := newFixture(t, b, nil)
				eventual.Handle(s.worker, "letter", fails)
				eventual.Handle(s.worker, "panic", func(context.Context, eventual.Job[int]) error { panic(errors.New("oh")) })
				eventual.Handle(s.worker, "nil", func(context.Context, eventual.Job[int]) error {
					var err *streetError // a common mistake: the error is not nil
					return err
				})
				eventual.Handle(s.worker, "goexit", func(context.Context, eventual.Job[int]) error {
					(&testing.T{}).SkipNow()
					return nil
				})
				eventual.Handle(s.worker, "cancel", func(context.Context, eventual.Job[int]) error {
					return fmt.Errorf("wrapped: %w", eventual.Cancel("no such street", nil))
				})
				c.put(t, s)
				m := messages(t, s.queue)[0]
				es := s.until(t, c.attempts)
				if last := es[len(es)-1]; last.Outcome != eventual.Poisoned || last.Err == nil || last.Kind != c.kind {
					t.Errorf("ended %v, %v", last.Outcome, last.Err)
				}
				wantEmpty(t, s.queue)
				poison := peek(t, s.poisonQueue(t))
				assert.Equal(assert.Now(t), len(poison), 1, "poison messages")
				d := poison[0]
				if d.Reason != c.reason || d.Attempts != c.attempts || d.Kind != c.kind || string(d.Payload) != c.payload {
					t.Errorf("got %+v with payload %s", d, d.Payload)
				}
				if c.id == "" {
					c.id = *m.MessageID
				}
				assert.Equal(t, d.ID, c.id)
				assert.Equal(t, d.OriginalID, *m.MessageID)
				began := time.Now()
				if d.Kind == eventual.Raw { // the time of the service
					began = *m.InsertionTime
				}
				if age := began.Sub(d.Enqueued).Abs(); age > time.Minute || d.PoisonedAt.IsZero() {
					t.Errorf("enqueued %v, moved to poison %v", d.Enqueued, d.PoisonedAt)
				}
			})
		}
	})
}

func TestPoisonQueueIsCreatedWhenFirstNeeded(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		poison := b.Queue(t)
		if b.InProcess() {
			poison = b.Account.Queue(harness.UniqueName())
		} else if _, err := poison.Delete(t.Context(), nil); err != nil { // Azurite releases the name immediately
			t.Fatal(err)
		}
		s := newFixtureOn(t, b, b.Queue(t), poison, nil)
		for i := range 2 {
			s.put(t, "parcel", i, nil)
			b.ResetRequests()
			wantOutcomes(t, s.until(t, 1), eventual.Poisoned)
			assert.Equal(t, b.Requests().Count("Queue.CreateQueue"), 1-i, "queue created", "times")
		}
		assert.Equal(t, len(messages(t, s.poison)), 2, "messages")
	})
}

func TestWithoutPoisonQueueCancelledMessageIsRetriedAfterAWeek(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Poison, o.PollMax = nil, time.Hour })
		var works atomic.Bool
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			if works.Load() {
				return nil
			}
			return eventual.Cancel("", errFails)
		})
		s.put(t, "letter", letter{}, nil)
		stop := s.start(t)
		wantOutcomes(t, s.next(t, 1), eventual.Parked)
		works.Store(true)
		began := time.Now()
		wantOutcomes(t, s.next(t, 1), eventual.Done)
		if d := time.Since(began); d < 7*24*time.Hour-time.Second || d > 7*24*time.Hour+2*time.Hour {
			t.Errorf("it was delivered again after %v", d)
		}
		stop()
		assert.WantError(t, assert.ErrorOf(s.worker.PoisonQueue()), patterns.ErrNil)
	})
}

func TestWithoutPoisonQueueAttemptsContinue(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for name, c := range map[string]struct {
		died int // deliveries to workers that died
		want []eventual.Outcome
		wait time.Duration // between the last failed attempt and the next
	}{
		"fails": {0, []eventual.Outcome{eventual.Retrying, eventual.Retrying, eventual.Retrying, eventual.Retrying, eventual.Parked, eventual.Parked}, 2 * week},
		// The sixth delivery is not an attempt: it could kill another worker.
		"kills its workers": {5, []eventual.Outcome{eventual.Parked}, week},
	} {
		t.Run(name, func(t *testing.T) {
			harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
				s := newFixture(t, b, func(o *eventual.Options) { o.Poison, o.PollMax = nil, time.Hour })
				var works atomic.Bool
				var last time.Time
				eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
					if works.Load() {
						return nil
					}
					last = time.Now()
					return errFails
				})
				s.put(t, "letter", letter{}, nil)
				for range c.died {
					receiveAndDie(t, s.queue)
				}
				last = time.Now()
				stop := s.start(t)
				wantOutcomes(t, s.next(t, len(c.want)), c.want...)
				works.Store(true)
				wantOutcomes(t, s.next(t, 1), eventual.Done)
				if d := time.Since(last); d < c.wait-time.Second || d > c.wait+3*time.Hour {
					t.Errorf("next attempt after %v, want %v", d, c.wait)
				}
				stop()
			})
		})
	}
}

// receiveAndDie simulates a worker that receives a message and dies.
func receiveAndDie(t testing.TB, q *azqueue.QueueClient) {
	t.Helper()
	hide := int32(30)
	assert.NoError(t, assert.ErrorOf(q.DequeueMessage(context.Background(), &azqueue.DequeueMessageOptions{VisibilityTimeout: &hide})))
	time.Sleep(31 * time.Second)
}

func TestMessageThatKillsItsWorkersIsMovedToPoison(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.PollMax = 10 * time.Second })
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			t.Error("the handler was called")
			return nil
		})
		s.put(t, "letter", letter{}, nil)
		for range 5 {
			receiveAndDie(t, s.queue)
		}
		wantOutcomes(t, s.until(t, 1), eventual.Poisoned)
		assert.Equal(t, peek(t, s.poisonQueue(t))[0].Reason, "no outcome after 5 deliveries", "reason")
	})
}

func TestUnreachablePoisonQueueLosesNoMessage(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, func(o *eventual.Options) { o.Tries = 1 })
		eventual.Handle(s.worker, "letter", fails)
		s.put(t, "letter", letter{}, nil)
		b.Fault(storagetest.On("Queue.Put").Times(8).LoseRequest()) // the SDK tries each request 4 times
		wantOutcomes(t, s.until(t, 3), eventual.Retrying, eventual.Retrying, eventual.Poisoned)
		synctest.Wait()
		wantEmpty(t, s.queue)
		assert.Equal(t, count(t, s.poison), 1, "poison messages")
	})
}

func TestLongReasonIsTruncated(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		long := strings.Repeat("\"ü\n\x00\xff", 100_000)
		eventual.Handle(s.worker, "full", func(ctx context.Context, job eventual.Job[string]) error {
			return eventual.Cancel(long, nil)
		})
		full := strings.Repeat("x", largestInline)
		s.put(t, "full", full, nil)
		s.put(t, "full", "", nil)
		s.until(t, 2)
		for _, d := range peek(t, s.poisonQueue(t)) {
			if len(d.Reason) < 100 || len(d.Reason) > 500 || strings.ContainsAny(d.Reason, "\n\x00") || d.Attempts != 1 {
				t.Errorf("%d bytes: %q", len(d.Reason), d.Reason)
			}
			if n := len(d.Payload); n != largestInline+2 && n != 2 {
				t.Errorf("payload of %d bytes", n)
			}
		}
	})
}

// The reason of Cancel is shown whatever Options.Reason is, and nothing else of the error.
func TestTheReasonOfCancelIsAlwaysShown(t *testing.T) {
	secret := errors.New("zanzibar")
	for name, reason := range map[string]func(error) string{
		"no Reason": nil,
		"a Reason":  func(error) string { return "something else" },
	} {
		t.Run(name, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				var log bytes.Buffer
				s := newFixture(t, b, func(o *eventual.Options) {
					o.Reason, o.Logger = reason, slog.New(slog.NewTextHandler(&log, nil))
				})
				eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
					return fmt.Errorf("wrapped: %w", eventual.Cancel("no such street", secret))
				})
				s.put(t, "letter", letter{}, nil)
				last := s.until(t, 1)[0]
				assert.Equal(t, last.Err.Error(), "no such street", "event")
				assert.Equal(t, errors.Is(last.Err, secret), true, "the event matches the error")
				assert.Equal(t, peek(t, s.poisonQueue(t))[0].Reason, "no such street", "reason of the poison message")
				assert.Contains(t, log.String(), "no such street")
				assert.Equal(t, strings.Contains(log.String(), "zanzibar"), false, "the log quotes the error")
			})
		})
	}
}

func TestMessageStaysIfItsCopyForThePoisonQueueIsRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error { return eventual.Cancel("refused", errFails) })
		s.put(t, "letter", letter{}, nil)
		b.Fault(storagetest.On("Queue.Put").Nth(1).Status(http.StatusForbidden, "AuthorizationFailure"))
		wantOutcomes(t, s.until(t, 2), eventual.Retrying, eventual.Poisoned)
		wantEmpty(t, s.queue)
	})
}
