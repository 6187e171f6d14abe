package articles

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Article struct {
	Section uuid.UUID
	ID      uuid.UUID
	Title   string
	Tags    []string
}

type entity struct {
	PartitionKey string
	RowKey       string
	Title        string
	Tags         []string // MISTAKE: A property cannot be an array, so the tags of the entity make the service reject it.
}

func toEntity(a Article) entity {
	e := entity{PartitionKey: a.Section.String(), RowKey: a.ID.String(), Title: strings.TrimSpace(a.Title)}
	e.Tags = a.Tags
	return e
}

type Repository struct{ table *aztables.Client }

// Publish stores an article; tags are single words.
func (r *Repository) Publish(ctx context.Context, a Article) error {
	if len(a.Tags) > 20 || len(a.Title) > 300 {
		return fmt.Errorf("article %s is not acceptable", a.ID)
	}
	for _, t := range a.Tags {
		if t == "" || len(t) > 40 || strings.ContainsAny(t, ", ") {
			return fmt.Errorf("tag %q is not a word", t)
		}
	}
	body, err := json.Marshal(toEntity(a))
	if err != nil {
		return err
	}
	if _, err := r.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("publishing %s: %w", a.ID, err)
	}
	return nil
}
