package visits

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Counter struct {
	hits *aztables.Client
	site string
}

func dayKey(site string, t time.Time) string {
	return site + "_" + t.UTC().Format("20060102")
}

// Hit notes one visit; id is the visitor's session.
func (c *Counter) Hit(ctx context.Context, at time.Time, id, page string) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{
			PartitionKey: dayKey(c.site, at),
			RowKey:       id + "_" + strconv.FormatInt(at.UnixNano(), 10),
		},
		Properties: map[string]any{
			"Page": page,
			"At":   aztables.EDMDateTime(at.UTC()),
		},
	})
	if err != nil {
		return err
	}
	_, err = c.hits.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Visits counts the rows of a day.
func (c *Counter) Visits(ctx context.Context, day time.Time) (int, error) {
	f := "PartitionKey eq '" + strings.ReplaceAll(dayKey(c.site, day), "'", "''") + "'"
	n := 0
	pager := c.hits.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f, Select: to.Ptr("RowKey")})
	for pager.More() {
		p, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		n += len(p.Entities)
	}
	return n, nil
}
