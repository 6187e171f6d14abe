package right

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Stats struct {
	Rows    int
	Bytes   int
	Skipped int
}

type job struct {
	log   *slog.Logger
	table *aztables.Client
}

func (j *job) run(ctx context.Context, partition string) (Stats, error) {
	var st Stats
	f := "PartitionKey eq '" + partition + "'"
	pager := j.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			j.log.Warn("page failed", "partition", partition, "err", err)
			return st, err
		}
		for _, raw := range page.Entities {
			st.Rows++
			st.Bytes += len(raw)
			if !json.Valid(raw) {
				st.Skipped++
			}
		}
	}
	return st, nil
}

// Main prints the statistics of the given partitions.
func Main(ctx context.Context, t *aztables.Client, partitions ...string) error {
	j := &job{log: slog.Default(), table: t}
	for _, p := range partitions {
		st, err := j.run(ctx, p)
		if err != nil {
			return fmt.Errorf("statistics of %s: %w", p, err)
		}
		fmt.Printf("%s: %d rows, %d bytes, %d skipped\n", p, st.Rows, st.Bytes, st.Skipped)
	}
	return nil
}
