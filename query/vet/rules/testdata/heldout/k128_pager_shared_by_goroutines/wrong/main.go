package fanout

import (
	"context"
	"fmt"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Handle func(ctx context.Context, row []byte) error

// Each handles all rows of a partition with several goroutines.
func Each(ctx context.Context, table *aztables.Client, partition uuid.UUID, workers int, handle Handle) error {
	filter := "PartitionKey eq '" + partition.String() + "'"
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for pager.More() && ctx.Err() == nil {
				page, err := pager.NextPage(ctx) // MISTAKE: Several goroutines call NextPage on the same pager, which is not safe for concurrent use and repeats or skips pages.
				if err != nil {
					cancel(fmt.Errorf("partition %s: %w", partition, err))
					return
				}
				for _, row := range page.Entities {
					if err := handle(ctx, row); err != nil {
						cancel(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
