package errortext

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func load(ctx context.Context, table *aztables.Client) ([]byte, error) {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return reply.Value, nil
}

func exists(ctx context.Context, table *aztables.Client) bool {
	_, err := load(ctx, table)
	if e, ok := err.(*azcore.ResponseError); ok { // want `an error that a function has wrapped is of another type`
		return e.StatusCode != 404
	}
	_, err = table.GetEntity(ctx, "p", "r", nil)
	e, ok := err.(*azcore.ResponseError) // of the SDK itself
	return !ok || e.StatusCode != 404
}
