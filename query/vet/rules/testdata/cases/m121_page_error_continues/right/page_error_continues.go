package mirror

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Mirror struct {
	src  *aztables.Client
	sink func(ctx context.Context, row []byte) error
	log  *slog.Logger
}

// Run copies a partition to the sink.
func (m *Mirror) Run(ctx context.Context, pk string) error {
	f := "PartitionKey eq '" + strings.ReplaceAll(pk, "'", "''") + "'"
	pager := m.src.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	rows := 0
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			m.log.Error("page", "partition", pk, "err", err)
			return fmt.Errorf("partition %s after %d rows: %w", pk, rows, err)
		}
		for _, row := range page.Entities {
			if err := m.sink(ctx, row); err != nil {
				return err
			}
			rows++
		}
	}
	m.log.Info("copied", "partition", pk, "rows", rows)
	return nil
}
