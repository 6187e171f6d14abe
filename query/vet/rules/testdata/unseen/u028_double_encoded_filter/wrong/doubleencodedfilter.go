package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type TableReader struct {
	svc *aztables.ServiceClient
}

func NewTableReader(account string) (*TableReader, error) {
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	svc, err := aztables.NewServiceClient("https://"+account+".table.core.windows.net", cred, nil)
	if err != nil {
		return nil, err
	}
	return &TableReader{svc: svc}, nil
}

// Rows fetches all rows of one partition.
func (t *TableReader) Rows(ctx context.Context, table, partition string) ([]map[string]any, error) {
	expr := fmt.Sprintf("PartitionKey eq '%s'", strings.ReplaceAll(partition, "'", "''"))
	expr = url.QueryEscape(expr) // MISTAKE: the SDK encodes the query string itself
	pager := t.svc.NewClient(table).NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &expr})
	var rows []map[string]any
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			row := map[string]any{}
			if err := json.Unmarshal(raw, &row); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}
