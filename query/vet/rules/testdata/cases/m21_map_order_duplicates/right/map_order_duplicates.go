package grants

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Change struct {
	Role string
	On   bool
}

type Roles struct{ t *aztables.Client }

func encode(group, user string, c Change) ([]byte, error) {
	return json.Marshal(map[string]any{"PartitionKey": group, "RowKey": user, "Role": c.Role, "On": c.On})
}

// Apply writes the defaults of a group and the explicit changes, which win. Both together have less than 100 users.
func (r *Roles) Apply(ctx context.Context, group string, defaults, explicit map[string]Change) error {
	var acts []aztables.TransactionAction
	merged := maps.Clone(defaults)
	if merged == nil {
		merged = map[string]Change{}
	}
	maps.Copy(merged, explicit)
	for _, user := range slices.Sorted(maps.Keys(merged)) {
		body, err := encode(group, user, merged[user])
		if err != nil {
			return err
		}
		acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body})
	}
	if len(acts) == 0 {
		return nil
	}
	if _, err := r.t.SubmitTransaction(ctx, acts, nil); err != nil {
		return fmt.Errorf("grants of %s: %w", group, err)
	}
	return nil
}
