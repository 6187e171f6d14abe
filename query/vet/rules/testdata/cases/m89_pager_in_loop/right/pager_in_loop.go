package letters

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Box struct {
	letters *aztables.Client
}

// Each visits all letters of a person.
func (b *Box) Each(ctx context.Context, person string, visit func([]byte) error) error {
	opts := &aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq '" + strings.ReplaceAll(person, "'", "''") + "'"),
		Top:    to.Ptr(int32(200)),
	}
	pager := b.letters.NewListEntitiesPager(opts)
	for {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("letters of %s: %w", person, err)
		}
		for _, raw := range page.Entities {
			if err := visit(raw); err != nil {
				return err
			}
		}
		if !pager.More() {
			return nil
		}
	}
}
