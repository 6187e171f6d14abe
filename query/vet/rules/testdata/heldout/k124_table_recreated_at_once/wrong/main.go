package reset

import (
	"context"
	"errors"
	"fmt"

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
	if _, err := svc.CreateTable(ctx, name, nil); err != nil { // MISTAKE: The table is deleted and created again with the same name at once, which fails while the deletion is still going on.
		return fmt.Errorf("creating %s: %w", name, err)
	}
	return nil
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
