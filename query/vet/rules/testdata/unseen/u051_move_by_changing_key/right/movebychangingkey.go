package right

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Ticket struct {
	aztables.Entity
	Subject string
	Note    string
}

type Desk struct {
	tickets *aztables.Client
}

// Assign moves a ticket from one team to another; teams are partitions.
func (d *Desk) Assign(ctx context.Context, id, from, team, note string) error {
	resp, err := d.tickets.GetEntity(ctx, from, id, nil)
	if err != nil {
		return fmt.Errorf("ticket %s: %w", id, err)
	}
	var t Ticket
	if err := json.Unmarshal(resp.Value, &t); err != nil {
		return err
	}
	t.PartitionKey = team
	t.Note = note
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	opts := &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}
	if _, err = d.tickets.UpsertEntity(ctx, body, opts); err != nil {
		return err
	}
	_, err = d.tickets.DeleteEntity(ctx, from, id, &aztables.DeleteEntityOptions{IfMatch: &resp.ETag})
	return err
}

// Escalate hands a ticket to the second level.
func (d *Desk) Escalate(ctx context.Context, id, from string) error {
	if strings.HasSuffix(from, "-2nd") {
		return errors.New("already at second level")
	}
	return d.Assign(ctx, id, from, from+"-2nd", "escalated")
}
