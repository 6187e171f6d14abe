package basket

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Article struct {
	RowKey string
	Name   string
	Stock  int32
}

// Articles returns the articles of a shop with the given numbers; unknown
// numbers are left out. Shop and article numbers are digits only.
func Articles(ctx context.Context, table *aztables.Client, shop string, numbers []string) ([]Article, error) {
	found := make([]Article, 0, len(numbers))
	for _, n := range numbers {
		resp, err := table.GetEntity(ctx, shop, n, nil)
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		var a Article
		if err := json.Unmarshal(resp.Value, &a); err != nil {
			return nil, err
		}
		found = append(found, a)
	}
	return found, nil
}
