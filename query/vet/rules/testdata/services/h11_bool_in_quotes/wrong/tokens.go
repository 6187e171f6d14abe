package tokens

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type PushToken struct {
	PartitionKey string
	RowKey       string
	Token        string
	IsActive     bool
}

type Repository struct{ table *aztables.Client }

func (r *Repository) Save(ctx context.Context, t PushToken) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = r.table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

func filterFor(group string, active bool) string {
	g := strings.ReplaceAll(group, "'", "''")
	return fmt.Sprintf("PartitionKey eq '%s' and IsActive eq '%t'", g, active) // MISTAKE: IsActive is a Boolean; in quotes it is compared as a string
}

func (r *Repository) Active(ctx context.Context, group string) ([]string, error) {
	filter := filterFor(group, true)
	pager := r.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var out []string
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list tokens: %w", err)
		}
		for _, raw := range page.Entities {
			var t PushToken
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, err
			}
			out = append(out, t.Token)
		}
	}
	return out, nil
}
