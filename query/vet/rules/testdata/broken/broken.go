// Package broken has errors: not all of its types are known.
package broken

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func Open() missing { return nothing() }

func Save(ctx context.Context, table *aztables.Client, body []byte) error {
	_, err := table.UpsertEntity(ctx, body, nil)
	return err
}
