package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Saver struct {
	t *aztables.Client
}

// Save writes groups of rows; each group lies in its own partition and has at most 100 small rows.
func (s *Saver) Save(ctx context.Context, groups map[string][][]byte) error {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	var mu sync.Mutex
	var errs []error
	for pk, rows := range groups {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			acts := make([]aztables.TransactionAction, len(rows))
			for i, r := range rows {
				acts[i] = aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace, Entity: r}
			}
			if _, err := s.t.SubmitTransaction(ctx, acts, nil); err != nil {
				mu.Lock()
				errs = append(errs, fmt.Errorf("partition %s: %w", pk, err))
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}
