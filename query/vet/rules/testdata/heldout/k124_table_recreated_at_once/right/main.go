package reset

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func code(err error) aztables.TableErrorCode {
	var re *azcore.ResponseError
	if errors.As(err, &re) {
		return aztables.TableErrorCode(re.ErrorCode)
	}
	return ""
}

// Table empties a table of the demo environment.
func Table(ctx context.Context, svc *aztables.ServiceClient, name string) error {
	if _, err := svc.DeleteTable(ctx, name, nil); err != nil && code(err) != aztables.ResourceNotFound {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	for {
		_, err := svc.CreateTable(ctx, name, nil)
		if err == nil {
			return nil
		}
		if code(err) != aztables.TableBeingDeleted {
			return fmt.Errorf("creating %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
}

// Tables empties several tables one after the other.
func Tables(ctx context.Context, svc *aztables.ServiceClient, names ...string) error {
	for _, name := range names {
		if err := Table(ctx, svc, name); err != nil {
			return err
		}
	}
	return nil
}
