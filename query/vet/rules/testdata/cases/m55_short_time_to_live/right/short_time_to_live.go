package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Task struct {
	Partition, Row string
	Reason         string
}

// Queue keeps tasks that must be done sooner or later, after any outage.
type Queue struct {
	client *azqueue.QueueClient
	ttl    int32
}

func New(c *azqueue.QueueClient) *Queue {
	return &Queue{client: c, ttl: -1}
}

func (q *Queue) Add(ctx context.Context, t Task) error {
	if t.Partition == "" || t.Row == "" {
		return errors.New("a task needs a key")
	}
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = q.client.EnqueueMessage(ctx, string(b), &azqueue.EnqueueMessageOptions{TimeToLive: &q.ttl})
	if err != nil {
		return fmt.Errorf("queue repair of %s/%s: %w", t.Partition, t.Row, err)
	}
	return nil
}
