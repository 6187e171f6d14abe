package move

import (
	"context"
	"fmt"
	"time"

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
	status := resp.CopyStatus
	for status != nil && *status == blob.CopyStatusTypePending {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
		props, err := to.GetProperties(ctx, nil)
		if err != nil {
			return err
		}
		status = props.CopyStatus
	}
	if status == nil || *status != blob.CopyStatusTypeSuccess {
		return fmt.Errorf("copy did not succeed")
	}
	return nil
}

// Rename changes the name of a file to an unused one; no one else changes files of a box.
func (b *Box) Rename(ctx context.Context, old, fresh string) error {
	from, to := b.files.NewBlobClient(old), b.files.NewBlobClient(fresh)
	if err := b.copy(ctx, from, to); err != nil {
		return fmt.Errorf("rename %s: %w", old, err)
	}
	_, err := from.Delete(ctx, nil)
	return err
}
