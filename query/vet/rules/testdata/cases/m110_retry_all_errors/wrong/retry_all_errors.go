package stubborn

import (
	"context"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Writer struct {
	c *aztables.Client
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Put writes a row and outlasts a service that is busy for a while.
func (w *Writer) Put(ctx context.Context, row []byte) error {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		_, err := w.c.UpsertEntity(ctx, row, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
		if err == nil {
			return nil
		}
		log.Printf("put: %v, next try in %v", err, wait) // MISTAKE: a row that is refused with 400 or 403 is sent again for ever
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}
