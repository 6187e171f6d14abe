package photos

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Photos struct {
	people *aztables.Client
	files  *container.Client
}

// Remove deletes a person and the photo. A crash in between may leave an unused blob, which a sweeper removes, but no dead link.
func (p *Photos) Remove(ctx context.Context, dept, mail string) error {
	got, err := p.people.GetEntity(ctx, dept, mail, nil)
	if err != nil {
		return err
	}
	var row struct{ Photo string }
	if err := json.Unmarshal(got.Value, &row); err != nil {
		return err
	}
	if _, err = p.people.DeleteEntity(ctx, dept, mail, &aztables.DeleteEntityOptions{IfMatch: &got.ETag}); err != nil {
		return err
	}
	if _, err := p.files.NewBlobClient(row.Photo).Delete(ctx, nil); err != nil && !bloberror.HasCode(err, bloberror.BlobNotFound) {
		return err
	}
	return nil
}
