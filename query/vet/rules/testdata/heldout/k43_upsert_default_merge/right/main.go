package prefs

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var property = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,39}$`)

type Preferences map[string]string

type Store struct{ table *aztables.Client }

// Save makes the stored preferences of a user equal to p.
func (s *Store) Save(ctx context.Context, user uuid.UUID, p Preferences) error {
	if len(p) > 100 {
		return fmt.Errorf("too many preferences: %d", len(p))
	}
	row := map[string]string{}
	for name, value := range p {
		if !property.MatchString(name) || len(value) > 500 {
			return fmt.Errorf("preference %q not allowed", name)
		}
		row["P"+name] = value
	}
	row["PartitionKey"], row["RowKey"] = user.String(), "preferences"
	body, err := json.Marshal(row)
	if err != nil {
		return err
	}
	if _, err := s.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}); err != nil {
		return fmt.Errorf("saving preferences of %s: %w", user, err)
	}
	return nil
}
