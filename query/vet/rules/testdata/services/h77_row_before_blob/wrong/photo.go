package photo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/google/uuid"
)

type pointer struct {
	PartitionKey string
	RowKey       string
	Photo        string
}

type Photos struct {
	staff *aztables.Client
	blobs *container.Client
}

func (p *Photos) point(ctx context.Context, to pointer, seen azcore.ETag) error {
	raw, err := json.Marshal(to)
	if err != nil {
		return err
	}
	_, err = p.staff.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{IfMatch: &seen, UpdateMode: aztables.UpdateModeMerge})
	return err
}

func (p *Photos) upload(ctx context.Context, name string, jpeg []byte) error {
	_, err := p.blobs.NewBlockBlobClient(name).UploadBuffer(ctx, jpeg, &blockblob.UploadBufferOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
		},
	})
	return err
}

// Set stores the photo of an employee; seen is the ETag of the row the caller has
// read. A sweeper removes blobs that no row points to.
func (p *Photos) Set(ctx context.Context, dept, id string, seen azcore.ETag, jpeg []byte) error {
	ref := pointer{PartitionKey: dept, RowKey: id, Photo: uuid.NewString() + ".jpg"}
	if err := p.point(ctx, ref, seen); err != nil { // MISTAKE: when the upload fails afterwards the row points to a blob that does not exist
		return fmt.Errorf("set photo: %w", err)
	}
	if err := p.upload(ctx, ref.Photo, jpeg); err != nil {
		return fmt.Errorf("upload photo: %w", err)
	}
	return nil
}
