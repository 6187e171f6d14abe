package bench

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// workerRows are the operations of queues and of their workers.
func workerRows() []Row {
	return []Row{enqueue(), receive()}
}

const queue = "work"

type move struct{ From, To string }

type handMessage struct {
	ID, Kind string
	Payload  move
}

func workQueue(c *Clients) (*azqueue.QueueClient, error) { return c.Queue(queue), nil }

func enqueue() Row {
	job := move{"Sales/000123", "Archive/000123"}
	return Row{
		Name: "Enqueue", Unit: "message", Goal: Goal{Ratio: 1.3},
		Setup: func(ctx context.Context, c *Clients) error {
			_, err := c.Queue(queue).Create(ctx, nil)
			return err
		},
		Hand: with(workQueue, func(ctx context.Context, q *azqueue.QueueClient) error {
			text, err := json.Marshal(handMessage{uuid.NewString(), "move", job})
			if err != nil {
				return err
			}
			_, err = q.EnqueueMessage(ctx, base64.StdEncoding.EncodeToString(text), &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))})
			return err
		}),
		Ours: with(workQueue, func(ctx context.Context, q *azqueue.QueueClient) error {
			return eventual.Enqueue(ctx, q, "move", job, nil)
		}),
	}
}

// receive is a worker with 16 handlers, which takes as long as its requests. By hand, 16
// goroutines delete the messages, and the next ones are received meanwhile.
func receive() Row {
	const messages, handlers = 640, 16
	return Row{
		Name: "worker, 10 ms a request, 16 concurrently", Unit: "message", Per: messages, Goal: Goal{Ratio: 0.8, Requests: 1.15},
		Latency: 10 * time.Millisecond,
		Setup: func(ctx context.Context, c *Clients) error {
			q := c.Queue(queue)
			_, err := q.Create(ctx, nil)
			for range messages {
				err = errors.Join(err, eventual.Enqueue(ctx, q, "move", move{"Sales/000123", "Archive/000123"}, nil))
			}
			return err
		},
		Hand: with(workQueue, func(ctx context.Context, q *azqueue.QueueClient) error {
			return receiveByHand(ctx, q, messages, handlers)
		}),
		Ours: func(c *Clients) (Run, error) {
			var done atomic.Int64
			all := make(chan struct{})
			w, err := eventual.NewWorker(c.Queue(queue), &eventual.Options{Poison: c.Queue(queue + "-poison"), Parallel: handlers, Observe: func(e eventual.Event) {
				if e.Outcome == eventual.Done && done.Add(1) == messages {
					close(all)
				}
			}})
			if err != nil {
				return nil, err
			}
			eventual.Handle(w, "move", func(context.Context, eventual.Job[move]) error { return nil })
			return func(ctx context.Context) error {
				ctx, stop := context.WithCancel(ctx)
				defer stop()
				go func() {
					<-all
					stop()
				}()
				return w.Run(ctx)
			}, nil
		},
		Check: func(ctx context.Context, c *Clients) error {
			p, err := c.Queue(queue).GetProperties(ctx, nil)
			if err == nil && *p.ApproximateMessagesCount != 0 {
				err = errors.New("messages remain")
			}
			return err
		},
	}
}

func receiveByHand(ctx context.Context, q *azqueue.QueueClient, messages, handlers int) error {
	received := make(chan *azqueue.DequeuedMessage, 32)
	failed := make([]error, handlers)
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() {
			for m := range received {
				_, err := q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
				failed[i] = errors.Join(failed[i], err)
			}
		})
	}
	var err error
	for n := 0; n < messages && err == nil; {
		var resp azqueue.DequeueMessagesResponse
		resp, err = q.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32))})
		for _, m := range resp.Messages {
			received <- m
		}
		n += len(resp.Messages)
	}
	close(received)
	all.Wait()
	return errors.Join(append(failed, err)...)
}
