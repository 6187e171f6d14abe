// Package store is used by a handler of another package.
package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

// Table creates a table on each call.
func Table(ctx context.Context, service *aztables.ServiceClient, name string) *aztables.Client {
	table := service.NewClient(name)
	_, _ = table.CreateTable(ctx, nil)
	return table
}

type jobs struct{ queue *azqueue.QueueClient }

func (j *jobs) Add(ctx context.Context, text string) error {
	if _, err := j.queue.Create(ctx, nil); err != nil { // want `this creates the table, queue or container on each call`
		return err
	}
	_, err := j.queue.EnqueueMessage(ctx, text, nil)
	return err
}
