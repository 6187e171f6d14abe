package roster

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Player struct{ RowKey, Name string }

type Rosters struct{ players *aztables.Client }

// Of returns the whole roster of a team.
func (r *Rosters) Of(ctx context.Context, team string) ([]Player, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(team, "'", "''") + "'"
	pager := r.players.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var out []Player
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			break // MISTAKE: a failed page makes a shorter roster and no error
		}
		for _, raw := range page.Entities {
			var p Player
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, err
			}
			out = append(out, p)
		}
	}
	return out, nil
}
