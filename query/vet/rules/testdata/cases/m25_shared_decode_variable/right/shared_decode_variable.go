package contacts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Contact struct {
	RowKey string
	Name   string
	Phone  string
	Mobile string
}

type Phonebook struct{ c *aztables.Client }

func (p *Phonebook) pages(owner string) *runtime.Pager[aztables.ListEntitiesResponse] {
	f := "PartitionKey eq '" + strings.ReplaceAll(owner, "'", "''") + "'"
	return p.c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
}

// All returns the contacts; Phone and Mobile are optional properties.
func (p *Phonebook) All(ctx context.Context, owner string) ([]Contact, error) {
	var list []Contact
	pager := p.pages(owner)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("contacts of %s: %w", owner, err)
		}
		for _, raw := range page.Entities {
			var c Contact
			if err := json.Unmarshal(raw, &c); err != nil {
				return nil, err
			}
			list = append(list, c)
		}
	}
	return list, nil
}
