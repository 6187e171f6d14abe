package migrate

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
)

// Exclusive runs fn while holding the lease on the lock blob.
func Exclusive(ctx context.Context, lock *blockblob.Client, fn func(context.Context) error) error {
	l, err := lease.NewBlobClient(lock, nil)
	if err != nil {
		return fmt.Errorf("lease client: %w", err)
	}
	if _, err := l.AcquireLease(ctx, 60, nil); err != nil {
		return fmt.Errorf("acquiring lease: %w", err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if _, err := l.ReleaseLease(ending, nil); err != nil {
			slog.Warn("releasing lease", "error", err)
		}
	}()
	running, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	go keep(running, cancel, l)
	return fn(running)
}

func keep(ctx context.Context, lost context.CancelFunc, l *lease.BlobClient) {
	tick := time.NewTicker(20 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := l.RenewLease(ctx, nil); err != nil {
				slog.Error("renewing lease", "error", err)
				lost()
				return
			}
		}
	}
}
