package heartbeats

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Beats struct {
	nodes *aztables.Client
	now   func() time.Time
}

// Beat notes that a node is alive; a new node has no row before its first beat.
func (b *Beats) Beat(ctx context.Context, cluster, node string, load float64) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: cluster, RowKey: node},
		Properties: map[string]any{
			"At":              aztables.EDMDateTime(b.now().UTC()),
			"Load":            load,
			"Load@odata.type": "Edm.Double",
		},
	})
	if err != nil {
		return fmt.Errorf("encode beat: %w", err)
	}
	_, err = b.nodes.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeMerge})
	if err != nil {
		return fmt.Errorf("beat of %s: %w", node, err)
	}
	return nil
}

// Loop beats until the context ends.
func (b *Beats) Loop(ctx context.Context, cluster, node string, load func() float64) {
	tick := time.NewTicker(15 * time.Second)
	defer tick.Stop()
	for {
		if err := b.Beat(ctx, cluster, node, load()); err != nil {
			slog.Warn("heartbeat", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
