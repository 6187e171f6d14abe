package right

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Syncer copies measurements that arrived since the last run; the writer puts rows into partitions named after the UTC day.
type Syncer struct {
	Source *aztables.Client
	Sink   func(context.Context, []byte) error
}

func dayOf(t time.Time) string { return t.UTC().Format("20060102") }

func (s *Syncer) Run(ctx context.Context, since time.Time) (time.Time, error) {
	started := time.Now().UTC()
	stamp := since.UTC().Format("2006-01-02T15:04:05.0000000Z")
	cond := fmt.Sprintf("PartitionKey ge '%s' and Timestamp ge datetime'%s'", dayOf(since.Add(-time.Hour)), stamp)

	pager := s.Source.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &cond})
	n := 0
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return since, fmt.Errorf("sync from %s: %w", stamp, err)
		}
		for _, e := range page.Entities {
			if err := s.Sink(ctx, e); err != nil {
				return since, err
			}
			n++
		}
	}
	log.Printf("copied %d rows", n)
	return started.Add(-time.Minute), nil
}
