package fanout

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Loader struct {
	t *aztables.Client
}

type Key struct{ PK, RK string }

// Load reads many rows of different partitions; keys may have tens of thousands of elements.
func (l *Loader) Load(ctx context.Context, keys []Key) ([][]byte, error) {
	rows := make([][]byte, len(keys))
	errs := make([]error, len(keys))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i, k := range keys {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			resp, err := l.t.GetEntity(ctx, k.PK, k.RK, nil)
			if err != nil {
				errs[i] = fmt.Errorf("%s/%s: %w", k.PK, k.RK, err)
				return
			}
			rows[i] = resp.Value
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return rows, nil
}
