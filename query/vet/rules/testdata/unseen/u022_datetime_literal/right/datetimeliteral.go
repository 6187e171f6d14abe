package right

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Booking struct {
	Room  string
	Start time.Time
}

type Calendar struct{ c *aztables.Client }

func (cal *Calendar) Between(ctx context.Context, building string, from, until time.Time) ([]Booking, error) {
	const layout = "2006-01-02T15:04:05Z"
	filter := fmt.Sprintf("PartitionKey eq '%s' and Start ge datetime'%s' and Start lt datetime'%s'",
		strings.ReplaceAll(building, "'", "''"), from.UTC().Format(layout), until.UTC().Format(layout))

	var out []Booking
	pager := cal.c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		res, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, b := range res.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(b, &e); err != nil {
				return nil, err
			}
			start, ok := e.Properties["Start"].(aztables.EDMDateTime)
			if !ok {
				return nil, fmt.Errorf("row %s has no start", e.RowKey)
			}
			room, _ := e.Properties["Room"].(string)
			out = append(out, Booking{Room: room, Start: time.Time(start)})
		}
	}
	return out, nil
}
