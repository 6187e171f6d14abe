package rename

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Mover struct {
	files *container.Client
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
	if _, err := source.Delete(ctx, nil); err != nil { // MISTAKE: The source is deleted right after the copy was started, although a copy may still be pending or fail later.
		return fmt.Errorf("removing %s: %w", from, err)
	}
	return nil
}
