package eventual_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// byHand processes n messages in 16 goroutines, and receives the next ones meanwhile.
func byHand(t testing.TB, queue *azqueue.QueueClient, n int) {
	t.Helper()
	ctx := t.Context()
	messages := make(chan *azqueue.DequeuedMessage, 32)
	var handlers sync.WaitGroup
	for range 16 {
		handlers.Go(func() {
			for m := range messages {
				assert.Equal(t, assert.ErrorOf(queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)), nil)
			}
		})
	}
	for received := 0; received < n; {
		resp := assert.Must(queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32))}))(t)
		for _, m := range resp.Messages {
			messages <- m
		}
		received += len(resp.Messages)
	}
	close(messages)
	handlers.Wait()
}

// Each request takes 10 ms, and each handler as long as named.
func TestABusyWorkerReceivesManyMessagesInEachRequest(t *testing.T) {
	const n = 640
	for name, handles := range map[string]func(i int64) time.Duration{
		"no time":         func(int64) time.Duration { return 0 },
		"30 ms":           func(int64) time.Duration { return 30 * time.Millisecond },
		"different times": func(i int64) time.Duration { return time.Duration(i%7) * 5 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
				harness.WithoutTargets(b.Account)
				s := newFixture(t, b, nil)
				fill := func() {
					for range n {
						s.put(t, "letter", letter{}, nil)
					}
					b.ResetRequests()
				}
				slow := storagetest.On("*").Delay(10 * time.Millisecond).Times(1 << 30)
				fill()
				b.Fault(slow)
				began := time.Now()
				byHand(t, s.queue, n)
				hand := time.Since(began)
				b.ClearFaults()

				var nth, total atomic.Int64 // of handlers, and the time that they took
				eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
					took := handles(nth.Add(1))
					total.Add(int64(took))
					time.Sleep(took)
					return nil
				})
				fill()
				b.Fault(slow)
				began = time.Now()
				stop := s.start(t)
				s.next(t, n)
				took, requests := time.Since(began), len(b.Requests())
				stop()
				b.ClearFaults()
				t.Logf("%d requests for %d messages in %v, by hand in %v without the handlers", requests, n, took, hand)
				if float64(requests) > 1.15*n {
					t.Errorf("%d requests for %d messages", requests, n)
				}
				if most := 1.2 * float64(hand+time.Duration(total.Load()/16)); float64(took) > most {
					t.Errorf("it took %v, by hand %v without the handlers", took, hand)
				}
			})
		})
	}
}

// Of 32 messages that the second poll receives, 16 wait when the worker stops. Handlers of the
// others continue.
func TestMessagesThatAreHeldAreReleasedWhenTheWorkerStops(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		s := newFixture(t, b, nil)
		var nth atomic.Int32
		eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
			if nth.Add(1) > 16 {
				time.Sleep(20 * time.Second)
			}
			return nil
		})
		for range 48 {
			s.put(t, "letter", letter{}, nil)
		}
		b.Fault(storagetest.On("Queue.Delete").Delay(10 * time.Millisecond).Times(1 << 30))
		stop := s.start(t)
		time.Sleep(time.Second)
		assert.Equal(t, len(messages(t, s.queue)), 0, "messages are visible")
		go func() {
			time.Sleep(time.Second)
			assert.Equal(t, len(messages(t, s.queue)), 16, "messages are visible one second after the stop")
		}()
		stop()
		outcomes := map[eventual.Outcome]int{}
		for _, e := range s.next(t, 48) {
			outcomes[e.Outcome]++
		}
		assert.Equal(t, outcomes[eventual.Done], 32)
		assert.Equal(t, outcomes[eventual.Released], 16)
		// Their attempt did not count.
		next := newFixtureOn(t, b, s.queue, s.poison, nil)
		eventual.Handle(next.worker, "letter", func(_ context.Context, job eventual.Job[letter]) error {
			assert.Equal(t, job.Attempt, 1, "attempt")
			return nil
		})
		next.until(t, 16)
	})
}

// Handlers that were fast become slow. Messages are held for at most a third of the visibility
// timeout, and 5 seconds. Then the worker asks for no more than its handlers need.
func TestAMessageThatNoHandlerCanStartIsLeftToOtherWorkers(t *testing.T) {
	for visibility, hold := range map[time.Duration]time.Duration{time.Minute: 5 * time.Second, 3 * time.Second: time.Second} {
		harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
			s := newFixture(t, b, func(o *eventual.Options) { o.Parallel, o.Visibility = 1, visibility })
			var nth atomic.Int32
			eventual.Handle(s.worker, "letter", func(context.Context, eventual.Job[letter]) error {
				if nth.Add(1) == 2 {
					time.Sleep(10 * time.Minute)
				}
				return nil
			})
			for range 10 {
				s.put(t, "letter", letter{}, nil)
			}
			stop := s.start(t)
			time.Sleep(hold / 2)
			assert.Equal(t, len(messages(t, s.queue)), 0, "messages are visible")
			time.Sleep(hold)
			assert.Equal(t, len(messages(t, s.queue)), 8, "messages are visible")
			time.Sleep(9 * time.Minute)
			assert.Equal(t, len(messages(t, s.queue)), 8, "messages are visible later")
			s.next(t, 10+8)
			stop()
		})
	}
}
