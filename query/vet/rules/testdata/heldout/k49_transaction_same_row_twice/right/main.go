package purchase

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Line struct {
	Article uuid.UUID
	Cents   int32
}

type Repo struct{ table *aztables.Client }

func insert(entity map[string]any) (aztables.TransactionAction, error) {
	body, err := json.Marshal(entity)
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body}, err
}

// Create writes a new purchase with at most 50 lines; lines are numbered from 1.
func (r *Repo) Create(ctx context.Context, id uuid.UUID, lines []Line) error {
	if len(lines) == 0 || len(lines) > 50 {
		return fmt.Errorf("purchase %s has %d lines", id, len(lines))
	}
	var actions []aztables.TransactionAction
	var total int32
	for i, l := range lines {
		total += l.Cents
		line, err := insert(map[string]any{
			"PartitionKey": id.String(), "RowKey": fmt.Sprintf("line-%03d", i+1),
			"Article": l.Article.String(), "Cents": l.Cents,
		})
		if err != nil {
			return err
		}
		actions = append(actions, line)
	}
	head, err := insert(map[string]any{"PartitionKey": id.String(), "RowKey": "head", "Cents": total})
	if err != nil {
		return err
	}
	actions = append(actions, head)
	if _, err := r.table.SubmitTransaction(ctx, actions, nil); err != nil {
		return fmt.Errorf("creating purchase %s: %w", id, err)
	}
	return nil
}
