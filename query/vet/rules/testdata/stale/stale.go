package stale

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

func leased(ctx context.Context, file *blockblob.Client, data []byte) error {
	l, err := lease.NewBlobClient(file, nil)
	if err != nil {
		return err
	}
	if _, err := l.AcquireLease(ctx, 30, nil); err != nil {
		return err
	}
	defer l.ReleaseLease(ctx, nil)
	if _, err := file.UploadBuffer(ctx, data, &blockblob.UploadBufferOptions{
		AccessConditions: &blob.AccessConditions{LeaseAccessConditions: &blob.LeaseAccessConditions{LeaseID: l.LeaseID()}},
	}); err != nil {
		return err
	}
	_, err = file.UploadBuffer(ctx, data, nil) // want `a blob with a lease refuses a write that does not name the lease.*stale, error`
	return err
}

func renew(ctx context.Context, queue *azqueue.QueueClient, m *azqueue.DequeuedMessage, work func() error) error {
	if *m.DequeueCount > 5 {
		_, err := queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil)
		return err
	}
	reply, err := queue.UpdateMessage(ctx, *m.MessageID, *m.PopReceipt, *m.MessageText, nil)
	if err != nil {
		return err
	}
	if err := work(); err != nil {
		_, err = queue.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil) // want `UpdateMessage returns a new receipt`
		return err
	}
	_, err = queue.DeleteMessage(ctx, *m.MessageID, *reply.PopReceipt, nil)
	return err
}

func add(ctx context.Context, table *aztables.Client, body []byte) error {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	for range 5 {
		_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag}) // want `the ETag was read before the loop`
		if err == nil {
			return nil
		}
	}
	return err
}

func reserve(ctx context.Context, table *aztables.Client, body []byte, tag azcore.ETag) error {
	_, err := table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &tag})
	var e *azcore.ResponseError
	if errors.As(err, &e) && e.StatusCode == http.StatusPreconditionFailed { // want `412 means that another process has changed the row`
		return nil
	}
	return err
}
