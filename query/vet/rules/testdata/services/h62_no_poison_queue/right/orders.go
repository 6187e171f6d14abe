package orders

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Order struct {
	ID      string
	Article string
	Amount  int
}

type Shop interface {
	// Place is idempotent by the order's id.
	Place(ctx context.Context, o Order) error
}

func handle(ctx context.Context, shop Shop, text string) error {
	var o Order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("bad order: %w", err)
	}
	return shop.Place(ctx, o)
}

// Run places the orders of a queue until ctx ends.
func Run(ctx context.Context, queue, poison *azqueue.QueueClient, shop Shop, log *slog.Logger) error {
	for ctx.Err() == nil {
		resp, err := queue.DequeueMessage(ctx, nil)
		if err != nil {
			return err
		}
		if len(resp.Messages) == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
			}
			continue
		}
		m := resp.Messages[0]
		if err := handle(ctx, shop, *m.MessageText); err != nil {
			log.Error("order failed", "message", *m.MessageID, "error", err)
			if *m.DequeueCount < 5 {
				continue
			}
			if _, err := poison.EnqueueMessage(ctx, *m.MessageText, nil); err != nil {
				return err
			}
		}
		if _, err := queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return err
		}
	}
	return ctx.Err()
}
