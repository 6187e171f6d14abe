package stubborn

import (
	"context"
	"errors"
	"log"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
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
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode < 500 && re.StatusCode != http.StatusTooManyRequests && re.StatusCode != http.StatusRequestTimeout {
			return err
		}
		log.Printf("put: %v, next try in %v", err, wait)
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}
