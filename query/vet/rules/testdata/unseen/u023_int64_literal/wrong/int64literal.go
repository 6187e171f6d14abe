package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Reading struct {
	Meter string
	At    int64
	Value float64
}

type Meters struct{ tbl *aztables.Client }

// Since returns the readings of a meter after the given moment in milliseconds.
func (m Meters) Since(ctx context.Context, meter string, millis int64) ([]Reading, error) {
	opts := aztables.ListEntitiesOptions{
		Filter: to.Ptr(fmt.Sprintf("PartitionKey eq '%s' and AtMillis gt %d", meter, millis)), // MISTAKE: a 64 bit literal needs the suffix L
		Select: to.Ptr("PartitionKey,AtMillis,Value"),
	}
	var list []Reading
	for pager := m.tbl.NewListEntitiesPager(&opts); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("readings of %s: %w", meter, err)
		}
		for _, raw := range page.Entities {
			var row struct {
				PartitionKey string
				AtMillis     aztables.EDMInt64
				Value        float64
			}
			if err := json.Unmarshal(raw, &row); err != nil {
				return nil, err
			}
			list = append(list, Reading{Meter: row.PartitionKey, At: int64(row.AtMillis), Value: row.Value})
		}
	}
	return list, nil
}
