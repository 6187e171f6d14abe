package expiry

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Tokens struct {
	rows *aztables.Client
}

type key struct{ PartitionKey, RowKey string }

// Purge deletes the tokens of a tenant whose row keys (yyyymmdd_id) lie before the day.
func (t *Tokens) Purge(ctx context.Context, tenant string, day time.Time) error {
	f := fmt.Sprintf("PartitionKey eq '%s' and RowKey lt '%s'", strings.ReplaceAll(tenant, "'", "''"), day.UTC().Format("20060102"))
	pager := t.rows.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f, Select: to.Ptr("PartitionKey,RowKey")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			var k key
			if err := json.Unmarshal(raw, &k); err != nil {
				return err
			}
			if _, err := t.rows.DeleteEntity(ctx, k.PartitionKey, k.RowKey, nil); err != nil { // MISTAKE: one request per row though all lie in one partition
				return err
			}
		}
	}
	return nil
}
