package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type message struct {
	PartitionKey string
	RowKey       string
	From         string
	Text         string
}

const layout = time.RFC3339Nano // MISTAKE: RFC3339Nano drops trailing zeros of the fraction, so the keys have different lengths and do not sort by time.

type Room struct {
	id    uuid.UUID
	table *aztables.Client
}

func (r *Room) Post(ctx context.Context, from uuid.UUID, text string) error {
	if len(text) > 4000 {
		return fmt.Errorf("message has %d bytes", len(text))
	}
	key := time.Now().UTC().Format(layout) + "_" + from.String()
	body, err := json.Marshal(message{PartitionKey: r.id.String(), RowKey: key, From: from.String(), Text: text})
	if err != nil {
		return err
	}
	if _, err := r.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("posting to %s: %w", r.id, err)
	}
	return nil
}

// Since calls fn with the messages after a moment in the order of their time.
func (r *Room) Since(ctx context.Context, at time.Time, fn func(text string)) error {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s'", r.id, at.UTC().Format(layout))
	pager := r.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("messages of %s: %w", r.id, err)
		}
		for _, raw := range page.Entities {
			var m message
			if err := json.Unmarshal(raw, &m); err != nil {
				return err
			}
			fn(m.Text)
		}
	}
	return nil
}
