package right

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type bulk struct {
	client *aztables.Client
	wg     sync.WaitGroup
	slots  chan struct{}
	mu     sync.Mutex
	errs   []error
}

func (b *bulk) send(ctx context.Context, acts []aztables.TransactionAction) {
	b.slots <- struct{}{}
	b.wg.Go(func() {
		defer func() { <-b.slots }()
		if _, err := b.client.SubmitTransaction(ctx, acts, nil); err != nil {
			b.mu.Lock()
			b.errs = append(b.errs, err)
			b.mu.Unlock()
		}
	})
}

// Load writes the words of one language.
func Load(ctx context.Context, c *aztables.Client, lang string, words []string) error {
	b := &bulk{client: c, slots: make(chan struct{}, 8)}
	acts := make([]aztables.TransactionAction, 0, 100)
	for _, w := range words {
		e, err := json.Marshal(map[string]string{"PartitionKey": lang, "RowKey": w})
		if err != nil {
			return err
		}
		acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: e})
		if len(acts) == cap(acts) {
			b.send(ctx, acts)
			acts = make([]aztables.TransactionAction, 0, 100)
		}
	}
	if len(acts) > 0 {
		b.send(ctx, acts)
	}
	b.wg.Wait()
	return errors.Join(b.errs...)
}
