package points

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"
)

type message struct {
	Customer string
	Points   int32
}

type booking struct {
	PartitionKey string
	RowKey       string
	Points       int32
}

type Consumer struct {
	queue    *azqueue.QueueClient
	bookings *aztables.Client
}

func toBooking(m message) booking {
	return booking{PartitionKey: m.Customer, RowKey: uuid.NewString(), Points: m.Points} // MISTAKE: when the message comes again it gets another key and the points are booked twice
}

// Handle books the points of one message. The caller moves messages away
// that were delivered too often.
func (c *Consumer) Handle(ctx context.Context, msg *azqueue.DequeuedMessage) error {
	var m message
	if err := json.Unmarshal([]byte(*msg.MessageText), &m); err != nil {
		return fmt.Errorf("message %s: %w", *msg.MessageID, err)
	}
	raw, err := json.Marshal(toBooking(m))
	if err != nil {
		return err
	}
	if _, err := c.bookings.UpsertEntity(ctx, raw, nil); err != nil {
		return fmt.Errorf("book points: %w", err)
	}
	_, err = c.queue.DeleteMessage(ctx, *msg.MessageID, *msg.PopReceipt, nil)
	return err
}
