package wrong

import (
	"context"
	"errors"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Sums struct {
	mu    sync.Mutex
	total map[string]int
}

func (s *Sums) add(shard string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total[shard] += n
}

func drain(ctx context.Context, p *runtime.Pager[aztables.ListEntitiesResponse]) (n int, err error) {
	for p.More() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return n, err
		}
		n += len(page.Entities)
	}
	return n, nil
}

// CountShards counts the rows of each shard, all shards at the same time.
func CountShards(ctx context.Context, c *aztables.Client, shards []string) (map[string]int, error) {
	sums := &Sums{total: map[string]int{}}
	errs := make([]error, len(shards))
	var wg sync.WaitGroup
	opts := aztables.ListEntitiesOptions{Select: to.Ptr("RowKey")}
	for i, sh := range shards {
		opts.Filter = to.Ptr("PartitionKey eq '" + sh + "'") // MISTAKE: the pagers made before use this same struct
		pager := c.NewListEntitiesPager(&opts)
		wg.Go(func() {
			n, err := drain(ctx, pager)
			errs[i] = err
			sums.add(sh, n)
		})
	}
	wg.Wait()
	return sums.total, errors.Join(errs...)
}
