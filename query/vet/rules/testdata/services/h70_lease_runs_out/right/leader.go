package leader

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
)

const seconds = 60

// renew keeps the lease and calls stop when it is lost.
func renew(ctx context.Context, l *lease.BlobClient, stop context.CancelFunc) {
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(seconds * time.Second / 3):
			try, cancel := context.WithTimeout(ctx, 15*time.Second)
			_, err := l.RenewLease(try, nil)
			cancel()
			if err != nil {
				return
			}
		}
	}
}

// Exclusive runs job on one host at a time; the nightly job takes half an
// hour. lock is an empty blob.
func Exclusive(ctx context.Context, lock *blob.Client, job func(context.Context) error) (err error) {
	l, err := lease.NewBlobClient(lock, nil)
	if err != nil {
		return err
	}
	if _, err := l.AcquireLease(ctx, seconds, nil); err != nil {
		return fmt.Errorf("acquire lock: %w", err)
	}
	defer func() {
		if _, rerr := l.ReleaseLease(context.WithoutCancel(ctx), nil); rerr != nil && err == nil {
			err = fmt.Errorf("release lock: %w", rerr)
		}
	}()
	held, stop := context.WithCancel(ctx)
	defer stop()
	go renew(held, l, stop)
	return job(held)
}
