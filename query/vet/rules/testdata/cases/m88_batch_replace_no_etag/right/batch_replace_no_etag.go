package league

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Team struct {
	PartitionKey, RowKey string
	Played, Score        int32
}

type League struct{ teams *aztables.Client }

func (l *League) team(ctx context.Context, season, name string) (Team, azcore.ETag, error) {
	var t Team
	r, err := l.teams.GetEntity(ctx, season, name, nil)
	if err != nil {
		return t, "", err
	}
	return t, r.ETag, json.Unmarshal(r.Value, &t)
}

// Result adds a match to both teams; a 412 goes to the caller, who repeats the call.
func (l *League) Result(ctx context.Context, season, home, guest string, h, g int32) error {
	var acts []aztables.TransactionAction
	for _, side := range []struct {
		name string
		won  bool
	}{{home, h > g}, {guest, g > h}} {
		t, tag, err := l.team(ctx, season, side.name)
		if err != nil {
			return fmt.Errorf("team %s: %w", side.name, err)
		}
		t.Played++
		if side.won {
			t.Score += 3
		} else if h == g {
			t.Score++
		}
		t.PartitionKey, t.RowKey = season, side.name
		body, err := json.Marshal(t)
		if err != nil {
			return err
		}
		acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeUpdateReplace, Entity: body, IfMatch: &tag})
	}
	_, err := l.teams.SubmitTransaction(ctx, acts, nil)
	return err
}
