package wrong

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Fixture struct {
	svc  *aztables.ServiceClient
	wait time.Duration
}

func (f *Fixture) create(ctx context.Context, name string) error {
	for {
		_, err := f.svc.CreateTable(ctx, name, nil)
		if err == nil {
			return nil
		}
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusConflict { // MISTAKE: 409 is also the answer while the table is being deleted
			return nil
		}
		if !errors.As(err, &re) || re.StatusCode != http.StatusServiceUnavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(f.wait):
		}
	}
}

// Reset empties the demo tables by making them anew.
func (f *Fixture) Reset(ctx context.Context, names ...string) error {
	for _, n := range names {
		_, err := f.svc.DeleteTable(ctx, n, nil)
		var re *azcore.ResponseError
		if err != nil && !(errors.As(err, &re) && re.StatusCode == http.StatusNotFound) {
			return fmt.Errorf("delete %s: %w", n, err)
		}
		if err := f.create(ctx, n); err != nil {
			return fmt.Errorf("create %s: %w", n, err)
		}
	}
	return nil
}
