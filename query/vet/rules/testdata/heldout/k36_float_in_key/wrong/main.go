package leaderboard

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type rank struct {
	PartitionKey string
	RowKey       string
	Player       string
}

type Board struct{ table *aztables.Client }

// rowKey puts the best score first.
func rowKey(score float64, player uuid.UUID) string {
	return strconv.FormatFloat(math.MaxInt32-score, 'f', -1, 64) + "-" + player.String() // MISTAKE: The score is formatted as a float in the row key, which neither sorts numerically nor has a fixed form.
}

func (b *Board) Enter(ctx context.Context, season, player uuid.UUID, score float64) error {
	if score < 0 || score > math.MaxInt32 {
		return fmt.Errorf("score %f out of range", score)
	}
	body, err := json.Marshal(rank{PartitionKey: season.String(), RowKey: rowKey(score, player), Player: player.String()})
	if err != nil {
		return err
	}
	if _, err := b.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("entering score: %w", err)
	}
	return nil
}

// Best returns the first n players of a season.
func (b *Board) Best(ctx context.Context, season uuid.UUID, n int) ([]string, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s'", season)
	pager := b.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var players []string
	for pager.More() && len(players) < n {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("best of %s: %w", season, err)
		}
		for _, raw := range page.Entities {
			var r rank
			if err := json.Unmarshal(raw, &r); err != nil {
				return nil, err
			}
			players = append(players, r.Player)
		}
	}
	return players[:min(n, len(players))], nil
}
