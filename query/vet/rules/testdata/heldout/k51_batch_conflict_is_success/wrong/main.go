package badges

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var errNone = errors.New("no badges given")

type Awards struct{ table *aztables.Client }

// Award gives badges to a player; it may be called again with the same badges.
func (a *Awards) Award(ctx context.Context, player uuid.UUID, badges []uuid.UUID) error {
	if len(badges) == 0 {
		return errNone
	}
	ids := make([]string, 0, len(badges))
	for _, b := range badges {
		ids = append(ids, b.String())
	}
	slices.Sort(ids)
	var actions []aztables.TransactionAction
	for _, id := range slices.Compact(ids) {
		body, err := json.Marshal(map[string]string{"PartitionKey": player.String(), "RowKey": id})
		if err != nil {
			return err
		}
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: body})
	}
	for chunk := range slices.Chunk(actions, 100) {
		_, err := a.table.SubmitTransaction(ctx, chunk, nil)
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusConflict {
			continue // MISTAKE: A transaction that failed because one row exists is taken as done, although none of its rows was written.
		}
		if err != nil {
			return fmt.Errorf("awarding badges to %s: %w", player, err)
		}
	}
	return nil
}
