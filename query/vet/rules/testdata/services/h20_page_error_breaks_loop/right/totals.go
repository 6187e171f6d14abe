package totals

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type booking struct {
	RowKey string
	Cents  int32
}

type Source interface {
	Each(ctx context.Context, account string, fn func(booking)) error
}

type tableSource struct{ table *aztables.Client }

func NewSource(t *aztables.Client) Source { return tableSource{t} }

func (s tableSource) Each(ctx context.Context, account string, fn func(booking)) error {
	filter := "PartitionKey eq '" + strings.ReplaceAll(account, "'", "''") + "'"
	pager := s.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("bookings of %s: %w", account, err)
		}
		for _, raw := range page.Entities {
			var b booking
			if err := json.Unmarshal(raw, &b); err != nil {
				return err
			}
			fn(b)
		}
	}
	return nil
}

// Balance adds up all bookings of an account.
func Balance(ctx context.Context, src Source, account string) (int64, error) {
	var sum int64
	err := src.Each(ctx, account, func(b booking) { sum += int64(b.Cents) })
	return sum, err
}
