package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Relay struct {
	conn  string
	queue string
	q     *azqueue.QueueClient
}

func New(conn, queue string) (*Relay, error) {
	if conn == "" || queue == "" {
		return nil, errors.New("relay: configuration is incomplete")
	}
	q, err := azqueue.NewQueueClientFromConnectionString(conn, queue, nil)
	if err != nil {
		return nil, err
	}
	return &Relay{conn: conn, queue: queue, q: q}, nil
}

func (r *Relay) forward(ctx context.Context, text string) error {
	_, err := r.q.EnqueueMessage(ctx, text, nil)
	return err
}

// Pump forwards each line of the input as one message.
func (r *Relay) Pump(ctx context.Context, in io.Reader) error {
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		if err := r.forward(ctx, sc.Text()); err != nil {
			return fmt.Errorf("forward: %w", err)
		}
	}
	return sc.Err()
}
