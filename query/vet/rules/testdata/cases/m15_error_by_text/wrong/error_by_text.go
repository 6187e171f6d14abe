package coupons

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Redeem marks a coupon as used. It returns false when it was used before.
func Redeem(ctx context.Context, c *aztables.Client, campaign, code, customer string) (bool, error) {
	body, err := json.Marshal(struct {
		PartitionKey string
		RowKey       string
		Customer     string
	}{campaign, code, customer})
	if err != nil {
		return false, err
	}
	_, err = c.AddEntity(ctx, body, nil)
	if err == nil {
		return true, nil
	}
	if strings.Contains(err.Error(), "EntityAlreadyExists") { // MISTAKE: the error is told by its text, not by its code
		return false, nil
	}
	return false, fmt.Errorf("redeem %s: %w", code, err)
}

// RedeemAll returns the codes that were still free.
func RedeemAll(ctx context.Context, c *aztables.Client, campaign, customer string, codes ...string) ([]string, error) {
	var free []string
	for _, code := range codes {
		ok, err := Redeem(ctx, c, campaign, code, customer)
		if err != nil {
			return free, err
		}
		if ok {
			free = append(free, code)
		}
	}
	return free, nil
}
