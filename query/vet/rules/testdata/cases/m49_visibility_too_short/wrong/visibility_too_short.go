package video

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const workLimit = 20 * time.Minute

type Encoder interface {
	Encode(ctx context.Context, name string) error
}

type Host struct {
	queue  *azqueue.QueueClient
	enc    Encoder
	failed func(context.Context, string) error
}

func (h *Host) One(ctx context.Context) error {
	resp, err := h.queue.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{
		VisibilityTimeout: to.Ptr(int32(30)), // MISTAKE: the work may take 20 minutes, after 30 s another worker gets the message
	})
	if err != nil || len(resp.Messages) == 0 {
		return err
	}
	m := resp.Messages[0]
	if *m.DequeueCount > 3 {
		if err := h.failed(ctx, *m.MessageText); err != nil {
			return err
		}
	} else {
		wctx, cancel := context.WithTimeout(ctx, workLimit)
		defer cancel()
		if err := h.enc.Encode(wctx, *m.MessageText); err != nil {
			return fmt.Errorf("encode %s: %w", *m.MessageText, err)
		}
	}
	_, err = h.queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
	return err
}
