package rename

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Mover struct {
	files *container.Client
}

func wait(ctx context.Context, b *blob.Client) error {
	for {
		props, err := b.GetProperties(ctx, nil)
		if err != nil {
			return err
		}
		if props.CopyStatus == nil || *props.CopyStatus == blob.CopyStatusTypeSuccess {
			return nil
		}
		if *props.CopyStatus != blob.CopyStatusTypePending {
			return fmt.Errorf("copy ended as %s", *props.CopyStatus)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// Rename gives a blob a new name within the container. Names contain a UUID and
// blobs are never changed after their upload.
func (m *Mover) Rename(ctx context.Context, from, to string) error {
	if from == to {
		return nil
	}
	source := m.files.NewBlobClient(from)
	target := m.files.NewBlobClient(to)
	if _, err := target.StartCopyFromURL(ctx, source.URL(), nil); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	if err := wait(ctx, target); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	if _, err := source.Delete(ctx, nil); err != nil {
		return fmt.Errorf("removing %s: %w", from, err)
	}
	return nil
}
