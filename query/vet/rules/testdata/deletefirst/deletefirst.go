package deletefirst

import (
	"context"
	"encoding/json"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type job struct{ ID string }

func do(job) error { return nil }

func early(ctx context.Context, queue *azqueue.QueueClient) error {
	reply, err := queue.DequeueMessages(ctx, nil)
	if err != nil {
		return err
	}
	for _, m := range reply.Messages {
		var j job
		if err := json.Unmarshal([]byte(*m.MessageText), &j); err != nil {
			return err
		}
		if _, err := queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil { // want `the message is deleted before the work is done.*deletefirst, error`
			return err
		}
		if err := do(j); err != nil {
			return err
		}
	}
	return nil
}

func fine(ctx context.Context, queue *azqueue.QueueClient) error {
	reply, err := queue.DequeueMessages(ctx, nil)
	if err != nil {
		return err
	}
	for _, m := range reply.Messages {
		var j job
		if err := json.Unmarshal([]byte(*m.MessageText), &j); err != nil {
			queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil) // it never can be done
			continue
		}
		if err := do(j); err != nil {
			return err
		}
		if _, err := queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return err
		}
		log.Print("done ", j.ID)
		report(*m.DequeueCount)
	}
	return nil
}

func report(int64) {}
