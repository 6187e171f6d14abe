package basket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Price struct {
	RowKey string
	Cents  int32
}

type Prices struct {
	table *aztables.Client
}

func (p *Prices) One(ctx context.Context, shop, article uuid.UUID) (*Price, error) {
	resp, err := p.table.GetEntity(ctx, shop.String(), article.String(), nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("price of %s: %w", article, err)
	}
	price := new(Price)
	return price, json.Unmarshal(resp.Value, price)
}

// Of returns the prices of all articles in a basket.
func (p *Prices) Of(ctx context.Context, shop uuid.UUID, articles []uuid.UUID) (map[string]int32, error) {
	prices := make(map[string]int32, len(articles))
	terms := make([]string, 0, len(articles))
	for _, a := range articles {
		terms = append(terms, "RowKey eq '"+a.String()+"'")
	}
	filter := "PartitionKey eq '" + shop.String() + "' and (" + strings.Join(terms, " or ") + ")" // MISTAKE: One filter gets an or-term per id, which exceeds the limit of 15 comparisons and makes the service scan.
	pager := p.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("prices of basket: %w", err)
		}
		for _, raw := range page.Entities {
			var price Price
			if err := json.Unmarshal(raw, &price); err != nil {
				return nil, err
			}
			prices[price.RowKey] = price.Cents
		}
	}
	return prices, nil
}
