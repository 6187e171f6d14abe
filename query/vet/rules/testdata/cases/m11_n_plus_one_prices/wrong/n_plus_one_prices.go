package basket

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Price struct {
	RowKey string
	Net    int32
}

type Prices struct{ c *aztables.Client }

// Month returns the price of each day of a month; the row key is the day, yyyymmdd.
func (p Prices) Month(ctx context.Context, article string, year int, month time.Month) ([]Price, error) {
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	end := first.AddDate(0, 1, 0)
	var out []Price
	for d := first; d.Before(end); d = d.AddDate(0, 0, 1) {
		resp, err := p.c.GetEntity(ctx, article, d.Format("20060102"), nil) // MISTAKE: one read per day instead of one range query
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		var pr Price
		if err := json.Unmarshal(resp.Value, &pr); err != nil {
			return nil, err
		}
		out = append(out, pr)
	}
	return out, nil
}
