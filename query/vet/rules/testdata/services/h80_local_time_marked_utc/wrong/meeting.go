package meeting

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Meeting struct {
	Team, ID string
	Room     string
	Starts   time.Time
}

func when(date, clock, zone string) (time.Time, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, err
	}
	return time.ParseInLocation("2006-01-02 15:04", date+" "+clock, loc)
}

// Plan enters a meeting at a time in the zone of the team.
func Plan(ctx context.Context, table *aztables.Client, m Meeting, date, clock, zone string) error {
	at, err := when(date, clock, zone)
	if err != nil {
		return fmt.Errorf("time of meeting %s: %w", m.ID, err)
	}
	m.Starts = at
	raw, err := json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: m.Team, RowKey: m.ID},
		Properties: map[string]any{
			"Room":   m.Room,
			"Starts": aztables.EDMDateTime(m.Starts), // MISTAKE: the local hour is written with a Z behind it, so the meeting moves by the zone's offset
		},
	})
	if err != nil {
		return err
	}
	_, err = table.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}
