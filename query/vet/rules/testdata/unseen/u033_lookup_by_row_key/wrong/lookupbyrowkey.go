package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Parcel struct {
	PartitionKey string
	RowKey       string
	Status       string
}

var ErrUnknownParcel = errors.New("unknown parcel")

// depotOf reads the depot from the first four characters of a tracking code.
func depotOf(code string) (string, error) {
	if len(code) < 8 {
		return "", fmt.Errorf("tracking code %q is too short", code)
	}
	return code[:4], nil
}

type Tracking struct {
	parcels *aztables.Client
}

func (t *Tracking) Status(ctx context.Context, code string) (string, error) {
	depot, err := depotOf(code)
	if err != nil {
		return "", err
	}
	cond := fmt.Sprintf("RowKey eq '%s'", code) // MISTAKE: the partition is known but not part of the query
	pager := t.parcels.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &cond})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for _, raw := range page.Entities {
			var p Parcel
			if err := json.Unmarshal(raw, &p); err != nil {
				return "", err
			}
			if p.PartitionKey == depot {
				return p.Status, nil
			}
		}
	}
	return "", ErrUnknownParcel
}
