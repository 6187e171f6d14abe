package cfgworker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Config struct {
	Hidden   time.Duration
	MaxTries int64
}

func (c Config) visibility() *int32 {
	v := int32(c.Hidden) // MISTAKE: The duration is converted to int32 as nanoseconds, so the visibility timeout is a random number and usually refused.
	return &v
}

var ErrEmpty = errors.New("queue is empty")

type Receiver struct {
	queue  *azqueue.QueueClient
	poison *azqueue.QueueClient
	cfg    Config
}

func NewReceiver(queue, poison *azqueue.QueueClient, cfg Config) (*Receiver, error) {
	if cfg.Hidden < time.Second || cfg.Hidden > 7*24*time.Hour || cfg.MaxTries < 1 {
		return nil, errors.New("configuration out of range")
	}
	return &Receiver{queue: queue, poison: poison, cfg: cfg}, nil
}

// Receive returns the next message, which the caller deletes when it is done
// within the configured time.
func (r *Receiver) Receive(ctx context.Context) (*azqueue.DequeuedMessage, error) {
	for {
		resp, err := r.queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: r.cfg.visibility()})
		if err != nil {
			return nil, fmt.Errorf("dequeue: %w", err)
		}
		if len(resp.Messages) == 0 {
			return nil, ErrEmpty
		}
		m := resp.Messages[0]
		if *m.DequeueCount <= r.cfg.MaxTries {
			return m, nil
		}
		if _, err := r.poison.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
			return nil, fmt.Errorf("parking: %w", err)
		}
		if _, err := r.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return nil, fmt.Errorf("deleting: %w", err)
		}
	}
}
