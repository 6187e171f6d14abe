package render

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Renderer struct {
	q      *azqueue.QueueClient
	frames func(job string) []string
	draw   func(context.Context, string) error
	dead   func(context.Context, string) error
}

func (r *Renderer) Do(ctx context.Context, m *azqueue.DequeuedMessage) error {
	receipt := *m.PopReceipt
	if *m.DequeueCount > 5 {
		if err := r.dead(ctx, *m.MessageText); err != nil {
			return err
		}
		_, err := r.q.DeleteMessage(ctx, *m.MessageID, receipt, nil)
		return err
	}
	for _, f := range r.frames(*m.MessageText) {
		if err := r.draw(ctx, f); err != nil {
			return err
		}
		up, err := r.q.UpdateMessage(ctx, *m.MessageID, receipt, *m.MessageText, &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr(int32(90))})
		if err != nil {
			return fmt.Errorf("extend %s: %w", *m.MessageID, err)
		}
		receipt = *up.PopReceipt
	}
	_, err := r.q.DeleteMessage(ctx, *m.MessageID, receipt, nil)
	return err
}
