package right

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Message struct {
	aztables.Entity
	From string
	Text string
}

type Room struct {
	id    string
	table *aztables.Client
}

const keyLayout = "2006-01-02T15:04:05.000000000Z07:00"

func (r *Room) Say(ctx context.Context, from, text string, at time.Time) error {
	m := Message{From: from, Text: text}
	m.PartitionKey = r.id
	m.RowKey = at.UTC().Format(keyLayout) + "_" + uuid.NewString()
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = r.table.AddEntity(ctx, body, nil)
	return err
}

// Replay calls show for all messages from the given time on, in order.
func (r *Room) Replay(ctx context.Context, from time.Time, show func(Message)) error {
	flt := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s'", r.id, from.UTC().Format(keyLayout))
	pager := r.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &flt})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			var m Message
			if err := json.Unmarshal(raw, &m); err != nil {
				return err
			}
			show(m)
		}
	}
	return nil
}
