package bans

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Desk struct{ players *aztables.Client }

// Lift removes the ban of a player; the BanReason property must be gone afterwards. Players have only text, Boolean and date-time properties.
func (d Desk) Lift(ctx context.Context, game, player string) error {
	resp, err := d.players.GetEntity(ctx, game, player, nil)
	if err != nil {
		return err
	}
	var e aztables.EDMEntity
	if err := json.Unmarshal(resp.Value, &e); err != nil {
		return err
	}
	if _, banned := e.Properties["BanReason"]; !banned {
		return nil
	}
	delete(e.Properties, "BanReason")
	body, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: game, RowKey: player},
		Properties: e.Properties,
	})
	if err != nil {
		return err
	}
	_, err = d.players.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
		IfMatch:    &resp.ETag,
		UpdateMode: aztables.UpdateModeMerge, // MISTAKE: a merge keeps the properties that the body lacks
	})
	if err != nil {
		return fmt.Errorf("lift ban of %s: %w", player, err)
	}
	return nil
}
