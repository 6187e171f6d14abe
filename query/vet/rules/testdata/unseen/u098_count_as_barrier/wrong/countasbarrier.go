package wrong

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Stage struct {
	queue   *azqueue.QueueClient
	results *aztables.Client
	run     string
	parts   int
}

func (s *Stage) stored(ctx context.Context) (int, error) {
	f := "PartitionKey eq '" + s.run + "'"
	pager := s.results.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f, Select: to.Ptr("RowKey")})
	n := 0
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		n += len(page.Entities)
	}
	return n, nil
}

func (s *Stage) finished(ctx context.Context) (bool, error) {
	p, err := s.queue.GetProperties(ctx, nil)
	if err != nil {
		return false, err
	}
	return *p.ApproximateMessagesCount == 0, nil // MISTAKE: only an estimate, it says nothing about parts still in work
}

// Wait returns when all parts of the run are done and removes its queue.
func (s *Stage) Wait(ctx context.Context) (int, error) {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		ok, err := s.finished(ctx)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-t.C:
		}
	}
	if _, err := s.queue.Delete(ctx, nil); err != nil {
		return 0, err
	}
	return s.stored(ctx)
}
