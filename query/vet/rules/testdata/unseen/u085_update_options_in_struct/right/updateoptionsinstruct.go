package right

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Cart struct {
	aztables.Entity
	Items int32
	Total int32
}

type CartRepo struct {
	client *aztables.Client
	opts   aztables.UpdateEntityOptions
}

// NewCartRepo returns a repository that is safe for use by many requests.
func NewCartRepo(c *aztables.Client) *CartRepo {
	return &CartRepo{
		client: c,
		opts:   aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace},
	}
}

func (r *CartRepo) Get(ctx context.Context, shop, id string) (Cart, azcore.ETag, error) {
	var c Cart
	resp, err := r.client.GetEntity(ctx, shop, id, nil)
	if err != nil {
		return c, "", err
	}
	err = json.Unmarshal(resp.Value, &c)
	return c, resp.ETag, err
}

func (r *CartRepo) Save(ctx context.Context, c Cart, tag azcore.ETag) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	opts := r.opts
	opts.IfMatch = &tag
	_, err = r.client.UpdateEntity(ctx, raw, &opts)
	return err
}
