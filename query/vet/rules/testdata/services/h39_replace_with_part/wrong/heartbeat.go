package heartbeat

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Node is written once by the installer.
type Node struct {
	PartitionKey string
	RowKey       string
	Address      string
	Role         string
	Version      string
}

type Registry struct {
	nodes *aztables.Client
	mode  aztables.UpdateMode
}

func New(nodes *aztables.Client) *Registry {
	return &Registry{nodes: nodes, mode: aztables.UpdateModeReplace}
}

func (r *Registry) Install(ctx context.Context, n Node) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = r.nodes.AddEntity(ctx, raw, nil)
	return err
}

// Beat notes that a node is alive.
func (r *Registry) Beat(ctx context.Context, cluster, node string, at time.Time) error {
	patch := map[string]any{
		"PartitionKey": cluster,
		"RowKey":       node,
		"LastSeen":     at.UTC().Format("2006-01-02T15:04:05Z"),
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = r.nodes.UpsertEntity(ctx, raw, &aztables.UpsertEntityOptions{UpdateMode: r.mode}) // MISTAKE: replace drops Address, Role and Version, which the patch does not hold
	if err != nil {
		return fmt.Errorf("heartbeat of %s/%s: %w", cluster, node, err)
	}
	return nil
}
