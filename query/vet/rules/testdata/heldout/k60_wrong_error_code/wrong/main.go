package coupons

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrUnknown = errors.New("unknown coupon")

type Coupon struct {
	RowKey  string
	Percent int32
	Used    bool
}

type Coupons struct {
	table *aztables.Client
}

func hasCode(err error, code aztables.TableErrorCode) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.ErrorCode == string(code)
}

// Lookup reads the coupon of a campaign.
func (c *Coupons) Lookup(ctx context.Context, campaign, id uuid.UUID) (Coupon, error) {
	var coupon Coupon
	resp, err := c.table.GetEntity(ctx, campaign.String(), id.String(), nil)
	if hasCode(err, aztables.EntityNotFound) { // MISTAKE: A missing row is reported with ResourceNotFound, so the comparison with EntityNotFound never holds.
		return coupon, ErrUnknown
	}
	if err != nil {
		return coupon, fmt.Errorf("coupon %s: %w", id, err)
	}
	if err := json.Unmarshal(resp.Value, &coupon); err != nil {
		return coupon, fmt.Errorf("decoding coupon: %w", err)
	}
	return coupon, nil
}

// Discount returns the price after the coupon.
func (c Coupon) Discount(cents int32) int32 {
	if c.Used || c.Percent <= 0 || c.Percent > 100 {
		return cents
	}
	return cents - cents*c.Percent/100
}
