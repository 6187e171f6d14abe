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
	if _, err := l.AcquireLease(ctx, 15, nil); err != nil { // MISTAKE: The lease lasts 15 seconds and is not renewed while the migration may run for half an hour, so a second one can start.
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
	return fn(running)
}
