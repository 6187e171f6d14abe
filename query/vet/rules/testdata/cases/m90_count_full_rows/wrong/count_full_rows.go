package stats

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Stats struct {
	orders *aztables.Client
}

// Rows of orders have up to 200 properties.
func (s *Stats) count(ctx context.Context, customer string) (int, error) {
	f := fmt.Sprintf("PartitionKey eq '%s'", strings.ReplaceAll(customer, "'", "''"))
	total := 0
	pager := s.orders.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f}) // MISTAKE: without Select all properties are sent for a mere count
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		total += len(page.Entities)
	}
	return total, nil
}

func (s *Stats) Report(ctx context.Context, w io.Writer, customers []string) error {
	for _, c := range customers {
		n, err := s.count(ctx, c)
		if err != nil {
			return fmt.Errorf("count %s: %w", c, err)
		}
		if _, err := fmt.Fprintf(w, "%s\t%d\n", c, n); err != nil {
			return err
		}
	}
	return nil
}
