package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Coupon struct {
	Shop string
	Code string
}

type Issuer struct {
	table *aztables.Client
}

func (i *Issuer) put(ctx context.Context, c Coupon) error {
	b, err := json.Marshal(map[string]any{
		"PartitionKey": c.Shop,
		"RowKey":       c.Code,
		"Used":         false,
	})
	if err != nil {
		return err
	}
	_, err = i.table.AddEntity(ctx, b, nil)
	return err
}

// IssueAll writes one coupon for each of many shops.
func (i *Issuer) IssueAll(ctx context.Context, coupons []Coupon) error {
	errs := make([]error, len(coupons))
	var wg sync.WaitGroup
	for n, c := range coupons {
		wg.Add(1)
		go func() { // MISTAKE: as many concurrent requests as there are coupons
			defer wg.Done()
			if err := i.put(ctx, c); err != nil {
				errs[n] = fmt.Errorf("coupon %s: %w", c.Code, err)
			}
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}
