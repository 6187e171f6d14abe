package clicks

import (
	"context"
	"encoding/json"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Click struct {
	Page string
	At   time.Time
}

type Reader struct {
	q      *azqueue.QueueClient
	poison *azqueue.QueueClient
}

// Read hands one batch of clicks to save, and removes it afterwards.
func (r *Reader) Read(ctx context.Context, save func(context.Context, []Click) error) error {
	resp, err := r.q.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages:  to.Ptr(int32(32)),
		VisibilityTimeout: to.Ptr(int32(180)),
	})
	if err != nil {
		return err
	}
	var clicks []Click
	var done []*azqueue.DequeuedMessage
	for _, m := range resp.Messages {
		var c Click
		if err := json.Unmarshal([]byte(*m.MessageText), &c); err != nil {
			log.Printf("not a click: %q", *m.MessageText)
			continue // MISTAKE: the message is neither deleted nor moved, it comes back every three minutes
		}
		clicks = append(clicks, c)
		done = append(done, m)
	}
	if err := save(ctx, clicks); err != nil {
		return err
	}
	for _, m := range done {
		if _, err := r.q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return err
		}
	}
	return nil
}
