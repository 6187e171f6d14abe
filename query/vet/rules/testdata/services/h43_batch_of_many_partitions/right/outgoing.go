package outgoing

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Notice struct {
	PartitionKey string // user
	RowKey       string // notice id
	Text         string
}

type batcher struct {
	table   *aztables.Client
	pending map[string][]aztables.TransactionAction
}

func (b *batcher) add(ctx context.Context, n Notice) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	action := aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: raw}
	b.pending[n.PartitionKey] = append(b.pending[n.PartitionKey], action)
	if len(b.pending[n.PartitionKey]) == 100 {
		return b.flush(ctx)
	}
	return nil
}

func (b *batcher) flush(ctx context.Context) error {
	var errs []error
	for user, actions := range b.pending {
		if _, err := b.table.SubmitTransaction(ctx, actions, nil); err != nil {
			errs = append(errs, err)
		}
		delete(b.pending, user)
	}
	return errors.Join(errs...)
}

// Send stores a text for each of the users.
func Send(ctx context.Context, table *aztables.Client, id, text string, users []string) error {
	b := &batcher{table: table, pending: map[string][]aztables.TransactionAction{}}
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
