package move

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Box struct {
	files *container.Client
}

func (b *Box) copy(ctx context.Context, from, to *blob.Client) error {
	resp, err := to.StartCopyFromURL(ctx, from.URL(), nil)
	if err != nil {
		return err
	}
	if resp.CopyStatus == nil || *resp.CopyStatus == blob.CopyStatusTypeFailed {
		return fmt.Errorf("copy failed")
	}
	return nil
}

// Rename changes the name of a file to an unused one; no one else changes files of a box.
func (b *Box) Rename(ctx context.Context, old, fresh string) error {
	from, to := b.files.NewBlobClient(old), b.files.NewBlobClient(fresh)
	if err := b.copy(ctx, from, to); err != nil {
		return fmt.Errorf("rename %s: %w", old, err)
	}
	_, err := from.Delete(ctx, nil) // MISTAKE: the copy may still be pending, and without its source the file is lost
	return err
}
