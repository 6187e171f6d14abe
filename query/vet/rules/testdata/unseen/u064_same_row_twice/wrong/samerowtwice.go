package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type result struct {
	player string
	points int32
}

// Tournament keeps the standing of the players of one event in one partition.
type Tournament struct {
	id string
	db *aztables.Client
}

func (t *Tournament) Apply(ctx context.Context, standing map[string]int32, results []result) error {
	if len(results) == 0 {
		return nil
	}
	if len(results) > 100 {
		return errors.New("too many results")
	}
	var acts []aztables.TransactionAction
	for _, r := range results { // MISTAKE: a player with two results gets two actions for the same row
		standing[r.player] += r.points
		row := map[string]any{"PartitionKey": t.id, "RowKey": r.player, "Points": standing[r.player]}
		b, err := json.Marshal(row)
		if err != nil {
			return err
		}
		acts = append(acts, aztables.TransactionAction{
			ActionType: aztables.TransactionTypeInsertMerge,
			Entity:     b,
		})
	}
	if _, err := t.db.SubmitTransaction(ctx, acts, nil); err != nil {
		return fmt.Errorf("tournament %s: %w", t.id, err)
	}
	return nil
}
