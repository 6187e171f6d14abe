package right

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Option func(*aztables.UpdateEntityOptions)

func IfUnchanged(tag azcore.ETag) Option {
	return func(o *aztables.UpdateEntityOptions) { o.IfMatch = &tag }
}

// Repo stores values of T; T must carry PartitionKey and RowKey.
type Repo[T any] struct {
	client *aztables.Client
}

func NewRepo[T any](c *aztables.Client) *Repo[T] { return &Repo[T]{client: c} }

func (r *Repo[T]) Find(ctx context.Context, pk, rk string) (v T, tag azcore.ETag, err error) {
	resp, err := r.client.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return v, "", err
	}
	err = json.Unmarshal(resp.Value, &v)
	return v, resp.ETag, err
}

func (r *Repo[T]) Update(ctx context.Context, v T, opts ...Option) (azcore.ETag, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	o := &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}
	for _, f := range opts {
		f(o)
	}
	resp, err := r.client.UpdateEntity(ctx, body, o)
	if err != nil {
		return "", err
	}
	return resp.ETag, nil
}
