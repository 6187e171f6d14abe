package fleet

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Assignment struct {
	Region uuid.UUID
	Driver uuid.UUID
	Device uuid.UUID
}

func encode(a Assignment) ([]byte, error) {
	return json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: a.Region.String(), RowKey: a.Driver.String()},
		Properties: map[string]any{
			"DeviceID": aztables.EDMGUID(a.Device.String()),
		},
	})
}

type AssignmentRepo struct{ client *aztables.Client }

func (r AssignmentRepo) Put(ctx context.Context, a Assignment) error {
	body, err := encode(a)
	if err != nil {
		return fmt.Errorf("encoding assignment: %w", err)
	}
	if _, err := r.client.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("storing assignment: %w", err)
	}
	return nil
}

// DriversOf returns who uses a device in a region.
func (r AssignmentRepo) DriversOf(ctx context.Context, region, device uuid.UUID) ([]string, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and DeviceID eq guid'%s'", region, device)
	var drivers []string
	for pager := r.client.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("drivers of %s: %w", device, err)
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			drivers = append(drivers, e.RowKey)
		}
	}
	return drivers, nil
}
