package wrong

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Mover struct {
	files *container.Client
	every time.Duration
}

func (m *Mover) wait(ctx context.Context, dst *blob.Client) error {
	for {
		p, err := dst.GetProperties(ctx, nil)
		if err != nil {
			return err
		}
		if p.CopyStatus == nil || *p.CopyStatus == blob.CopyStatusTypeSuccess {
			return nil
		}
		if *p.CopyStatus != blob.CopyStatusTypePending {
			return fmt.Errorf("copy ended as %s", *p.CopyStatus)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(m.every):
		}
	}
}

// Rename moves a file inside the container.
func (m *Mover) Rename(ctx context.Context, from, target string) error {
	src, dst := m.files.NewBlobClient(from), m.files.NewBlobClient(target)
	if _, err := dst.StartCopyFromURL(ctx, src.URL(), nil); err != nil { // MISTAKE: only starts the copy, the source is deleted below
		return fmt.Errorf("copy %s: %w", from, err)
	}
	if _, err := src.Delete(ctx, nil); err != nil {
		return fmt.Errorf("remove %s: %w", from, err)
	}
	return nil
}

// Publish moves a draft and waits until readers can see all of it.
func (m *Mover) Publish(ctx context.Context, name string) error {
	if err := m.Rename(ctx, "draft/"+name, "public/"+name); err != nil {
		return err
	}
	return m.wait(ctx, m.files.NewBlobClient("public/"+name))
}
