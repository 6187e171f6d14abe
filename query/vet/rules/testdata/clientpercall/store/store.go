// Package store is used by handlers of another package.
package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

// Table returns a new client.
func Table(connection, name string) (*aztables.Client, error) {
	service, err := Service(connection)
	if err != nil {
		return nil, err
	}
	return service.NewClient(name), nil
}

func Service(connection string) (*aztables.ServiceClient, error) {
	return aztables.NewServiceClientFromConnectionString(connection, nil)
}

var shared *aztables.ServiceClient

// Shared returns one client to all callers.
func Shared(connection string) (*aztables.ServiceClient, error) {
	if shared == nil {
		created, err := aztables.NewServiceClientFromConnectionString(connection, nil)
		if err != nil {
			return nil, err
		}
		shared = created
	}
	return shared, nil
}

func Notify(ctx context.Context, connection, text string) error {
	queue, err := azqueue.NewQueueClientFromConnectionString(connection, "jobs", nil) // want `this creates a client for each request`
	if err != nil {
		return err
	}
	_, err = queue.EnqueueMessage(ctx, text, nil)
	return err
}

func Archive(ctx context.Context, connection string, body []byte) error {
	blobs, err := azblob.NewClientFromConnectionString(connection, nil) // want `this creates a client for each request`
	if err != nil {
		return err
	}
	_, err = blobs.UploadBuffer(ctx, "archive", "today", body, nil)
	return err
}

type notifier struct{ queue *azqueue.QueueClient }

func NewNotifier(connection string) (*notifier, error) {
	queue, err := azqueue.NewQueueClientFromConnectionString(connection, "jobs", nil)
	return &notifier{queue}, err
}

func (n *notifier) Notify(ctx context.Context, text string) error {
	_, err := n.queue.EnqueueMessage(ctx, text, nil)
	return err
}
