package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

var ErrEmpty = errors.New("no command is waiting")

type Command struct {
	Name string
	Args []string

	id, receipt string
}

type Queue struct {
	client *azqueue.QueueClient
	poison *azqueue.QueueClient
}

// Next takes a command from the queue; the caller calls Done with it immediately
// when it was carried out.
func (q *Queue) Next(ctx context.Context) (*Command, error) {
	resp, err := q.client.DequeueMessage(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("next command: %w", err)
	}
	m := resp.Messages[0] // MISTAKE: an empty queue returns an empty list, and this panics
	c := &Command{id: *m.MessageID, receipt: *m.PopReceipt}
	if err := json.Unmarshal([]byte(*m.MessageText), c); err != nil || *m.DequeueCount > 5 {
		if _, err := q.poison.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
			return nil, err
		}
		if err := q.Done(ctx, c); err != nil {
			return nil, err
		}
		return nil, ErrEmpty
	}
	return c, nil
}

func (q *Queue) Done(ctx context.Context, c *Command) error {
	_, err := q.client.DeleteMessage(ctx, c.id, c.receipt, nil)
	return err
}
