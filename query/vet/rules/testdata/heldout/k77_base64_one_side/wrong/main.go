package jobs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Job struct {
	Kind   string
	Target string
}

type Queue struct {
	client *azqueue.QueueClient
}

func (q *Queue) Push(ctx context.Context, j Job) error {
	raw, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if _, err := q.client.EnqueueMessage(ctx, base64.StdEncoding.EncodeToString(raw), nil); err != nil {
		return fmt.Errorf("pushing %s: %w", j.Kind, err)
	}
	return nil
}

// Waiting shows the next jobs without taking them out of the queue.
func (q *Queue) Waiting(ctx context.Context) ([]Job, error) {
	resp, err := q.client.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(int32(32))})
	if err != nil {
		return nil, fmt.Errorf("peeking: %w", err)
	}
	jobs := make([]Job, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		var j Job
		if err := json.Unmarshal([]byte(*m.MessageText), &j); err != nil { // MISTAKE: The producer encodes the message in base64 but the consumer parses the text as JSON without decoding it.
			return nil, fmt.Errorf("decoding job: %w", err)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}
