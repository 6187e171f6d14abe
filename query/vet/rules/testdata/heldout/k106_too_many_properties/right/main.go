package energy

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

const slots = 24 * 12 // one value every five minutes

type Day struct {
	Meter uuid.UUID
	Date  time.Time
	Watt  [slots]int32
}

type Series struct{ table *aztables.Client }

// Save stores the load curve of a day.
func (s *Series) Save(ctx context.Context, d Day) error {
	properties := make(map[string]any)
	for hour := range 24 {
		values, err := json.Marshal(d.Watt[hour*12 : hour*12+12])
		if err != nil {
			return err
		}
		properties[fmt.Sprintf("H%02d", hour)] = string(values)
	}
	body, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: d.Meter.String(), RowKey: d.Date.UTC().Format("20060102")},
		Properties: properties,
	})
	if err != nil {
		return err
	}
	_, err = s.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	if err != nil {
		return fmt.Errorf("load curve of %s: %w", d.Meter, err)
	}
	return nil
}
