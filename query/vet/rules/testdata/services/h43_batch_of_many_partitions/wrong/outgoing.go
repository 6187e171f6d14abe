package outgoing

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Notice struct {
	PartitionKey string // user
	RowKey       string // notice id
	Text         string
}

type batcher struct {
	table   *aztables.Client
	pending []aztables.TransactionAction
}

func (b *batcher) add(ctx context.Context, n Notice) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	action := aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: raw}
	b.pending = append(b.pending, action) // MISTAKE: the notices belong to different users, and a transaction may hold one partition only
	if len(b.pending) == 100 {
		return b.flush(ctx)
	}
	return nil
}

func (b *batcher) flush(ctx context.Context) error {
	if len(b.pending) == 0 {
		return nil
	}
	_, err := b.table.SubmitTransaction(ctx, b.pending, nil)
	b.pending = nil
	return err
}

// Send stores a text for each of the users.
func Send(ctx context.Context, table *aztables.Client, id, text string, users []string) error {
	b := &batcher{table: table}
	seen := map[string]bool{}
	for _, u := range users {
		if seen[u] {
			continue
		}
		seen[u] = true
		if err := b.add(ctx, Notice{PartitionKey: u, RowKey: id, Text: text}); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}
