package right

import (
	"context"
	"errors"
	"fmt"
	"time"

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

func (l *Leader) keep(ctx context.Context, lost context.CancelFunc) {
	t := time.NewTicker(20 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if _, err := l.lock.RenewLease(ctx, nil); err != nil {
				lost()
				return
			}
		}
	}
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
	jctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go l.keep(jctx, cancel)
	return l.job(jctx)
}
