package rename

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Renamer struct{ c *container.Client }

func (r *Renamer) wait(ctx context.Context, b *blob.Client) error {
	for {
		p, err := b.GetProperties(ctx, nil)
		if err != nil {
			return err
		}
		if p.CopyStatus == nil {
			return errors.New("no copy was made")
		}
		switch *p.CopyStatus {
		case blob.CopyStatusTypeSuccess:
			return nil
		case blob.CopyStatusTypePending:
		default:
			return fmt.Errorf("copy ended with %s", *p.CopyStatus)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// Rename stores a blob under another name.
func (r *Renamer) Rename(ctx context.Context, from, name string) error {
	src, dst := r.c.NewBlobClient(from), r.c.NewBlobClient(name)
	if _, err := dst.StartCopyFromURL(ctx, src.URL(), nil); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	if err := r.wait(ctx, dst); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	if _, err := src.Delete(ctx, nil); err != nil {
		return fmt.Errorf("delete %s: %w", from, err)
	}
	return nil
}
