package grants

import (
	"context"
	"encoding/json"
	"fmt"

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
	for _, m := range []map[string]Change{defaults, explicit} {
		for user, c := range m {
			body, err := encode(group, user, c)
			if err != nil {
				return err
			}
			acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: body}) // MISTAKE: a user of both maps is twice in the batch, which is refused
		}
	}
	if len(acts) == 0 {
		return nil
	}
	if _, err := r.t.SubmitTransaction(ctx, acts, nil); err != nil {
		return fmt.Errorf("grants of %s: %w", group, err)
	}
	return nil
}
