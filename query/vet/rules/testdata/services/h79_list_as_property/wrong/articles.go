package articles

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Article struct {
	Blog, ID string
	Title    string
	Tags     []string // at most 20 short words
}

type entity struct {
	PartitionKey string
	RowKey       string
	Title        string
	Tags         []string // MISTAKE: a property cannot hold a list, and the service refuses the entity
}

func toEntity(a Article) (entity, error) {
	return entity{PartitionKey: a.Blog, RowKey: a.ID, Title: a.Title, Tags: a.Tags}, nil
}

type Store struct{ table *aztables.Client }

func (s *Store) Put(ctx context.Context, a Article) error {
	e, err := toEntity(a)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	opts := &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}
	if _, err := s.table.UpsertEntity(ctx, raw, opts); err != nil {
		return fmt.Errorf("store article %s/%s: %w", a.Blog, a.ID, err)
	}
	return nil
}
