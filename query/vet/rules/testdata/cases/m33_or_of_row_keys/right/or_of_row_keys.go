package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Products struct {
	c *aztables.Client
}

// ByIDs reads the products of a basket, up to 50 of them.
func (p *Products) ByIDs(ctx context.Context, shop string, ids []string) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(ids))
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		first error
		slots = make(chan struct{}, 8)
	)
	for _, id := range ids {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			resp, err := p.c.GetEntity(ctx, shop, id, nil)
			var re *azcore.ResponseError
			missing := errors.As(err, &re) && re.StatusCode == http.StatusNotFound
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				out[id] = resp.Value
			case !missing && first == nil:
				first = err
			}
		}()
	}
	wg.Wait()
	return out, first
}
