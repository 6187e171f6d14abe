package dropped

import (
	"context"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/dropped/repo"
)

type tableAPI interface {
	UpsertEntity(ctx context.Context, body []byte) error
}

func save(ctx context.Context, table *aztables.Client, queue *azqueue.QueueClient, blobs *azblob.Client, own tableAPI, body []byte) {
	table.UpsertEntity(ctx, body, nil)                      // want `the error of this write is dropped.*dropped, error`
	_, _ = table.AddEntity(ctx, body, nil)                  // want `the error of this write is dropped`
	queue.EnqueueMessage(ctx, "text", nil)                  // want `the error of this write is dropped`
	blobs.UploadBuffer(ctx, "container", "blob", body, nil) // want `the error of this write is dropped`
	own.UpsertEntity(ctx, body)                             // want `the error of this write is dropped`
	repo.Save(ctx, table, body)                             // want `the error of this write is dropped`
	_ = repo.Save(ctx, table, body)                         // want `the error of this write is dropped`
	if err := repo.Save(ctx, table, body); err != nil {
		log.Print(err)
	}
	table.CreateTable(ctx, nil)                    // it may exist
	queue.DeleteMessage(ctx, "id", "receipt", nil) // it is delivered again
}
