package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Setting struct {
	PartitionKey string
	RowKey       string
	Value        string
	Product      string
}

// Load returns the setting of one product. Product codes and names are
// checked against a fixed list before they come here.
func Load(ctx context.Context, client *aztables.Client, product, name string) (*Setting, error) {
	resp, err := client.GetEntity(ctx, product, name, nil)
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return nil, nil
		}
		return nil, fmt.Errorf("load setting %s/%s: %w", product, name, err)
	}
	var s Setting
	if err := json.Unmarshal(resp.Value, &s); err != nil {
		return nil, err
	}
	return &s, nil
}
