package leader

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
)

const seconds = 60

// Exclusive runs job on one host at a time; the nightly job takes half an
// hour. lock is an empty blob.
func Exclusive(ctx context.Context, lock *blob.Client, job func(context.Context) error) (err error) {
	l, err := lease.NewBlobClient(lock, nil)
	if err != nil {
		return err
	}
	if _, err := l.AcquireLease(ctx, seconds, nil); err != nil { // MISTAKE: the lease ends after 60 seconds while the job goes on, and a second host starts it, too
		return fmt.Errorf("acquire lock: %w", err)
	}
	defer func() {
		if _, rerr := l.ReleaseLease(context.WithoutCancel(ctx), nil); rerr != nil && err == nil {
			err = fmt.Errorf("release lock: %w", rerr)
		}
	}()
	return job(ctx)
}
