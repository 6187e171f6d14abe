package tariffs

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Tariffs struct{ t *aztables.Client }

// Raise lifts the price of all tariffs of a country by percent. Rows have also Name, Terms and Valid.
func (s Tariffs) Raise(ctx context.Context, country string, percent int32) error {
	f := "PartitionKey eq '" + strings.ReplaceAll(country, "'", "''") + "'"
	pager := s.t.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &f,
		Select: to.Ptr("PartitionKey,RowKey,Price"),
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		var acts []aztables.TransactionAction
		for _, raw := range page.Entities {
			var row struct {
				PartitionKey, RowKey string
				Price                int32
				ETag                 azcore.ETag `json:"odata.etag"`
			}
			if err := json.Unmarshal(raw, &row); err != nil {
				return err
			}
			body, err := json.Marshal(map[string]any{
				"PartitionKey": row.PartitionKey, "RowKey": row.RowKey, "Price": row.Price * (100 + percent) / 100,
			})
			if err != nil {
				return err
			}
			acts = append(acts, aztables.TransactionAction{
				ActionType: aztables.TransactionTypeUpdateMerge,
				Entity:     body,
				IfMatch:    &row.ETag,
			})
		}
		for part := range slices.Chunk(acts, 100) {
			if _, err := s.t.SubmitTransaction(ctx, part, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
