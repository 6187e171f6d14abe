package flags

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type flag struct {
	RowKey  string
	Enabled bool
}

type Flags struct {
	table *aztables.Client
}

func isNotFound(err error) bool {
	return err != nil && strings.Contains(err.Error(), "404") // MISTAKE: Whether the row is missing is decided by looking for 404 in the error text, which also contains URLs and request ids.
}

// Enabled tells whether a flag is on; unknown flags are off.
func (f *Flags) Enabled(ctx context.Context, environment, id uuid.UUID) (bool, error) {
	resp, err := f.table.GetEntity(ctx, environment.String(), id.String(), nil)
	if isNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading flag %s: %w", id, err)
	}
	var row flag
	if err := json.Unmarshal(resp.Value, &row); err != nil {
		return false, fmt.Errorf("decoding flag %s: %w", id, err)
	}
	return row.Enabled, nil
}

// Remove deletes a flag; it is no error if there is none.
func (f *Flags) Remove(ctx context.Context, environment, id uuid.UUID) error {
	_, err := f.table.DeleteEntity(ctx, environment.String(), id.String(), nil)
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("removing flag %s: %w", id, err)
	}
	return nil
}
