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
}

func New(conn, queue string) (*Relay, error) {
	if conn == "" || queue == "" {
		return nil, errors.New("relay: configuration is incomplete")
	}
	return &Relay{conn: conn, queue: queue}, nil
}

func (r *Relay) forward(ctx context.Context, text string) error {
	q, err := azqueue.NewQueueClientFromConnectionString(r.conn, r.queue, nil) // MISTAKE: every line makes a client of its own
	if err != nil {
		return err
	}
	_, err = q.EnqueueMessage(ctx, text, nil)
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
