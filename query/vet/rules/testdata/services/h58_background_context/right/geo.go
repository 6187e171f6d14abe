package geo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Place struct {
	RowKey string
	Name   string
}

type Gazetteer struct {
	table *aztables.Client
}

func drain(ctx context.Context, pager *runtime.Pager[aztables.ListEntitiesResponse], fn func([]byte) error) error {
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			if err := fn(raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// Places lists the places of a region.
func (g *Gazetteer) Places(ctx context.Context, region string) ([]Place, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s'", strings.ReplaceAll(region, "'", "''"))
	var places []Place
	pager := g.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	err := drain(ctx, pager, func(raw []byte) error {
		var p Place
		if err := json.Unmarshal(raw, &p); err != nil {
			return err
		}
		places = append(places, p)
		return nil
	})
	return places, err
}
