package tickets

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Finder struct {
	c   *aztables.Client
	now func() time.Time
}

func NewFinder(c *aztables.Client) *Finder { return &Finder{c: c, now: time.Now} }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Add stores a ticket; DueAt is a date-time property.
func (f *Finder) Add(ctx context.Context, team, id string, due time.Time) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: team, RowKey: id},
		Properties: map[string]any{"DueAt": aztables.EDMDateTime(due.UTC())},
	})
	if err != nil {
		return err
	}
	_, err = f.c.AddEntity(ctx, body, nil)
	return err
}

// Overdue calls visit for each ticket of the team whose due time has passed.
func (f *Finder) Overdue(ctx context.Context, team string, visit func(aztables.EDMEntity) error) error {
	limit := f.now().UTC().Format("2006-01-02T15:04:05Z")
	filter := "PartitionKey eq " + quote(team) + " and DueAt lt " + quote(limit) // MISTAKE: DueAt is a DateTime, the literal lacks the datetime prefix
	for p := f.c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); p.More(); {
		page, err := p.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	return nil
}
