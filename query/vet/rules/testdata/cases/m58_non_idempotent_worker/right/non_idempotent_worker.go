package points

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Award struct {
	ID     string
	Player string
	Points int32
}

type Worker struct {
	awards *aztables.Client
	queue  *azqueue.QueueClient
	dead   func(context.Context, string) error
}

// Handle books the points of one award; the sum is taken over a player's rows.
func (w *Worker) Handle(ctx context.Context, m *azqueue.DequeuedMessage) error {
	if *m.DequeueCount > 5 {
		if err := w.dead(ctx, *m.MessageText); err != nil {
			return err
		}
		_, err := w.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
		return err
	}
	var a Award
	if err := json.Unmarshal([]byte(*m.MessageText), &a); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"PartitionKey": a.Player,
		"RowKey":       a.ID,
		"Points":       a.Points,
	})
	if err != nil {
		return err
	}
	if _, err := w.awards.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}); err != nil {
		return err
	}
	_, err = w.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}
