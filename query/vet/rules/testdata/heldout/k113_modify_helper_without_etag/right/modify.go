package kv

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type keyed interface {
	Key() (partition, row string)
}

func load[T any](ctx context.Context, c *aztables.Client, pk, rk string) (T, azcore.ETag, error) {
	var v T
	resp, err := c.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return v, "", fmt.Errorf("loading %s/%s: %w", pk, rk, err)
	}
	err = json.Unmarshal(resp.Value, &v)
	return v, resp.ETag, err
}

// modify applies change to a stored row.
func modify[T keyed](ctx context.Context, c *aztables.Client, pk, rk string, change func(*T) error) error {
	v, etag, err := load[T](ctx, c, pk, rk)
	if err != nil {
		return err
	}
	if err := change(&v); err != nil {
		return err
	}
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = c.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace, IfMatch: &etag})
	if err != nil {
		return fmt.Errorf("storing %s/%s: %w", pk, rk, err)
	}
	return nil
}
