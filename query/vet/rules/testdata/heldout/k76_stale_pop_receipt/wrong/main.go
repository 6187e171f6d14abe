package render

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Step func(ctx context.Context, scene string) error

type Pipeline struct {
	scenes *azqueue.QueueClient
	failed *azqueue.QueueClient
	steps  []Step
}

// Process runs all steps and keeps the message hidden between them.
func (p *Pipeline) Process(ctx context.Context) error {
	hidden := to.Ptr(int32(900))
	resp, err := p.scenes.DequeueMessage(ctx, &azqueue.DequeueMessageOptions{VisibilityTimeout: hidden})
	if err != nil {
		return fmt.Errorf("dequeue: %w", err)
	}
	if len(resp.Messages) == 0 {
		return nil
	}
	m := resp.Messages[0]
	id, receipt, scene := *m.MessageID, *m.PopReceipt, *m.MessageText
	if *m.DequeueCount > 3 {
		if _, err := p.failed.EnqueueMessage(ctx, scene, nil); err != nil {
			return fmt.Errorf("parking %s: %w", scene, err)
		}
		_, err := p.scenes.DeleteMessage(ctx, id, receipt, nil)
		return err
	}
	for i, step := range p.steps {
		if err := step(ctx, scene); err != nil {
			return fmt.Errorf("step %d of %s: %w", i, scene, err)
		}
		_, err := p.scenes.UpdateMessage(ctx, id, receipt, scene, &azqueue.UpdateMessageOptions{VisibilityTimeout: hidden})
		if err != nil {
			return fmt.Errorf("extending %s: %w", scene, err)
		}
	}
	if _, err := p.scenes.DeleteMessage(ctx, id, receipt, nil); err != nil { // MISTAKE: After UpdateMessage the message is deleted with the old pop receipt, which is no longer valid.
		return fmt.Errorf("deleting %s: %w", scene, err)
	}
	return nil
}
