package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Product struct {
	SKU   string
	Name  string
	Price float64
}

type Shop struct{ products *aztables.Client }

func fromEntity(e aztables.EDMEntity) (Product, error) {
	name, ok := e.Properties["Name"].(string)
	if !ok {
		return Product{}, fmt.Errorf("%s has no name", e.RowKey)
	}
	p := Product{SKU: e.RowKey, Name: name}
	p.Price = e.Properties["Price"].(float64) // MISTAKE: a whole price is delivered as int32
	return p, nil
}

func (s *Shop) Category(ctx context.Context, cat string) ([]Product, error) {
	f := "PartitionKey eq '" + strings.ReplaceAll(cat, "'", "''") + "'"
	pager := s.products.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	var all []Product
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			p, err := fromEntity(e)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}
