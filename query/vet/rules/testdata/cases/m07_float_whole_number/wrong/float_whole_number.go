package sensors

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Reading struct {
	Device  string
	At      time.Time
	Celsius float64
}

type Sink struct{ readings *aztables.Client }

func (s Sink) Put(ctx context.Context, r Reading) error {
	body, err := encode(r)
	if err != nil {
		return err
	}
	_, err = s.readings.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

func encode(r Reading) ([]byte, error) {
	return json.Marshal(map[string]any{
		"PartitionKey": r.Device,
		"RowKey":       r.At.UTC().Format("20060102T150405.000"),
		"Celsius":      r.Celsius, // MISTAKE: 21.0 is sent as 21 and stored as Edm.Int32
	})
}

// Warm lists the row keys of the readings above the limit.
func (s Sink) Warm(ctx context.Context, device string, limit float64) ([]string, error) {
	lit := strconv.FormatFloat(limit, 'f', 2, 64)
	f := "PartitionKey eq '" + strings.ReplaceAll(device, "'", "''") + "' and Celsius gt " + lit
	var keys []string
	pager := s.readings.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			keys = append(keys, e.RowKey)
		}
	}
	return keys, nil
}
