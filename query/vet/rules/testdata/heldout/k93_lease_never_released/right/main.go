package nightly

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
)

var ErrBusy = errors.New("another instance is running")

const forever int32 = -1

type Job struct {
	lock *blob.Client
	work func(context.Context) error
}

// Run does the work unless another instance does it already.
func (j *Job) Run(ctx context.Context) error {
	l, err := lease.NewBlobClient(j.lock, nil)
	if err != nil {
		return fmt.Errorf("lease client: %w", err)
	}
	_, err = l.AcquireLease(ctx, forever, nil)
	if bloberror.HasCode(err, bloberror.LeaseAlreadyPresent) {
		return ErrBusy
	}
	if err != nil {
		return fmt.Errorf("locking: %w", err)
	}
	failed := j.work(ctx)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if _, err := l.ReleaseLease(ending, nil); err != nil {
		return errors.Join(failed, fmt.Errorf("unlocking: %w", err))
	}
	if failed != nil {
		return fmt.Errorf("nightly job: %w", failed)
	}
	return nil
}
