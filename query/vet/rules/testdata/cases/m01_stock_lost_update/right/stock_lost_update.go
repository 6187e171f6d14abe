package stock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Item is one article of a warehouse shelf.
type Item struct {
	aztables.Entity
	Name  string
	Count int32
}

type Repo struct {
	items *aztables.Client
}

func NewRepo(c *aztables.Client) *Repo { return &Repo{items: c} }

// Take removes n pieces from the shelf; it repeats when somebody was faster.
func (r *Repo) Take(ctx context.Context, shelf, sku string, n int32) error {
	for try := 0; try < 6; try++ {
		resp, err := r.items.GetEntity(ctx, shelf, sku, nil)
		if err != nil {
			return fmt.Errorf("read %s/%s: %w", shelf, sku, err)
		}
		var it Item
		if err := json.Unmarshal(resp.Value, &it); err != nil {
			return err
		}
		if it.Count < n {
			return errors.New("not enough stock")
		}
		body, err := json.Marshal(map[string]any{"PartitionKey": shelf, "RowKey": sku, "Count": it.Count - n})
		if err != nil {
			return err
		}
		_, err = r.items.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge, IfMatch: &resp.ETag})
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusPreconditionFailed {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(20+rand.IntN(80<<try)) * time.Millisecond):
			}
			continue
		}
		return err
	}
	return errors.New("too much contention")
}
