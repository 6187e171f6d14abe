package basket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

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
	for _, a := range articles {
		price, err := p.One(ctx, shop, a)
		if err != nil {
			return nil, err
		}
		if price != nil {
			prices[price.RowKey] = price.Cents
		}
	}
	return prices, nil
}
