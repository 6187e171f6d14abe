package leader

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
)

type State struct {
	blob *blockblob.Client
}

// Update changes the state while it holds a lease, so that only one process writes.
func (s *State) Update(ctx context.Context, change func() ([]byte, error)) (err error) {
	l, err := lease.NewBlobClient(s.blob, nil)
	if err != nil {
		return err
	}
	if _, err := l.AcquireLease(ctx, 60, nil); err != nil {
		return fmt.Errorf("acquire: %w", err)
	}
	defer func() {
		if _, e := l.ReleaseLease(context.WithoutCancel(ctx), nil); e != nil {
			err = errors.Join(err, fmt.Errorf("release: %w", e))
		}
	}()
	data, err := change()
	if err != nil {
		return err
	}
	_, err = s.blob.UploadBuffer(ctx, data, nil) // MISTAKE: a leased blob refuses a write that does not name the lease
	return err
}
