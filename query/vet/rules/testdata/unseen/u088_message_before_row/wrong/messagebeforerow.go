package wrong

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

type Job struct {
	Owner  string `json:"owner"`
	ID     string `json:"id"`
	Source string `json:"source"`
}

type Submitter struct {
	jobs  *aztables.Client
	queue *azqueue.QueueClient
}

func (s *Submitter) row(ctx context.Context, j Job) error {
	b, err := json.Marshal(map[string]string{
		"PartitionKey": j.Owner,
		"RowKey":       j.ID,
		"Source":       j.Source,
		"State":        "waiting",
	})
	if err != nil {
		return err
	}
	_, err = s.jobs.AddEntity(ctx, b, nil)
	return err
}

func (s *Submitter) message(ctx context.Context, j Job) error {
	m, err := json.Marshal(j)
	if err != nil {
		return err
	}
	_, err = s.queue.EnqueueMessage(ctx, base64.StdEncoding.EncodeToString(m), nil)
	return err
}

// Submit starts a conversion; the worker looks the job up in the table and skips unknown ones.
func (s *Submitter) Submit(ctx context.Context, owner, source string) (string, error) {
	j := Job{Owner: owner, ID: uuid.NewString(), Source: source}
	if err := s.message(ctx, j); err != nil { // MISTAKE: the worker can be faster than the row
		return "", fmt.Errorf("queue: %w", err)
	}
	if err := s.row(ctx, j); err != nil {
		return "", fmt.Errorf("table: %w", err)
	}
	return j.ID, nil
}
