package wallet

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type booking struct {
	RowKey string
	Cents  int32
	Kind   string
}

type Wallet struct {
	bookings *aztables.Client
}

// Balance sums up all bookings of an owner.
func (w *Wallet) Balance(ctx context.Context, owner uuid.UUID) (int64, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s'", owner)
	pager := w.bookings.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var balance int64
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, fmt.Errorf("bookings of %s: %w", owner, err)
		}
		for _, raw := range page.Entities {
			var b booking
			if err := json.Unmarshal(raw, &b); err != nil {
				return 0, fmt.Errorf("booking of %s: %w", owner, err)
			}
			switch b.Kind {
			case "credit":
				balance += int64(b.Cents)
			case "debit":
				balance -= int64(b.Cents)
			default:
				return 0, fmt.Errorf("booking %s has kind %q", b.RowKey, b.Kind)
			}
		}
	}
	return balance, nil
}
