package settings

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
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
	filter := fmt.Sprintf("PartitionKey eq '%s' or RowKey eq '%s'", escape(product), escape(name)) // MISTAKE: "or" matches every row of the product and every product's row of that name, by a scan of the table
	pager := client.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &filter,
		Select: to.Ptr("PartitionKey,RowKey,Value,Product"),
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("load setting %s/%s: %w", product, name, err)
		}
		for _, raw := range page.Entities {
			var s Setting
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, err
			}
			return &s, nil
		}
	}
	return nil, nil
}

func escape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' {
			out = append(out, '\'')
		}
		out = append(out, s[i])
	}
	return string(out)
}
