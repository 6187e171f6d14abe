package wrong

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
)

type Leader struct {
	lock *lease.BlobClient
	job  func(ctx context.Context) error
}

func NewLeader(c *blob.Client, job func(context.Context) error) (*Leader, error) {
	l, err := lease.NewBlobClient(c, nil)
	if err != nil {
		return nil, err
	}
	return &Leader{lock: l, job: job}, nil
}

// Run does the nightly job, which takes about half an hour, if no other instance does it.
func (l *Leader) Run(ctx context.Context) (err error) {
	_, err = l.lock.AcquireLease(ctx, 60, nil)
	if bloberror.HasCode(err, bloberror.LeaseAlreadyPresent) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("acquire: %w", err)
	}
	defer func() {
		_, rerr := l.lock.ReleaseLease(context.WithoutCancel(ctx), nil)
		err = errors.Join(err, rerr)
	}()
	return l.job(ctx) // MISTAKE: the lease runs out after a minute and is not renewed
}
