package activity

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type event struct {
	PartitionKey string
	RowKey       string
	Text         string
}

type Timeline struct{ events *aztables.Client }

func rowKey(at time.Time) string {
	return fmt.Sprintf("%019d-%s", math.MaxInt64-at.UnixNano(), uuid.NewString())
}

func (t *Timeline) Add(ctx context.Context, user uuid.UUID, text string) error {
	body, err := json.Marshal(event{PartitionKey: user.String(), RowKey: rowKey(time.Now()), Text: text})
	if err != nil {
		return err
	}
	if _, err := t.events.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("adding event: %w", err)
	}
	return nil
}

// Latest returns the n newest texts of a user, newest first.
func (t *Timeline) Latest(ctx context.Context, user uuid.UUID, n int) ([]string, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s'", user)
	pager := t.events.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var texts []string
	for pager.More() && len(texts) < n {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("events of %s: %w", user, err)
		}
		for _, raw := range page.Entities {
			var e event
			if err := json.Unmarshal(raw, &e); err != nil {
				return nil, err
			}
			texts = append(texts, e.Text)
		}
	}
	return texts[:min(n, len(texts))], nil
}
