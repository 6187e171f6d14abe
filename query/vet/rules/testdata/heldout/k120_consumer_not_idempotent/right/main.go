package points

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

type award struct {
	ID     uuid.UUID
	Player uuid.UUID
	Points int32
}

type Consumer struct {
	queue  *azqueue.QueueClient
	poison *azqueue.QueueClient
	ledger *aztables.Client
}

func (c *Consumer) book(ctx context.Context, a award) error {
	row := a.ID
	body, err := json.Marshal(map[string]any{"PartitionKey": a.Player.String(), "RowKey": row.String(), "Points": a.Points})
	if err != nil {
		return err
	}
	_, err = c.ledger.AddEntity(ctx, body, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusConflict {
		return nil // booked by an earlier delivery of the same award
	}
	if err != nil {
		return fmt.Errorf("booking award %s: %w", a.ID, err)
	}
	return nil
}

// One handles the next award. The player's points are the sum of the ledger.
func (c *Consumer) One(ctx context.Context) error {
	resp, err := c.queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr(int32(60))})
	if err != nil {
		return fmt.Errorf("dequeue: %w", err)
	}
	for _, m := range resp.Messages {
		var a award
		if err := json.Unmarshal([]byte(*m.MessageText), &a); err != nil || *m.DequeueCount > 5 {
			if _, err := c.poison.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
				return fmt.Errorf("parking: %w", err)
			}
		} else if err := c.book(ctx, a); err != nil {
			return err
		}
		if _, err := c.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return fmt.Errorf("deleting: %w", err)
		}
	}
	return nil
}
