package sequence

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type row struct {
	PartitionKey string
	RowKey       string
	Next         int32
}

// Numbers issues invoice numbers. The service runs on several hosts.
type Numbers struct {
	mu    sync.Mutex
	table *aztables.Client
}

func (n *Numbers) get(ctx context.Context, tenant string) (row, azcore.ETag, error) {
	var r row
	resp, err := n.table.GetEntity(ctx, tenant, "invoice", nil)
	if err != nil {
		return r, "", err
	}
	return r, resp.ETag, json.Unmarshal(resp.Value, &r)
}

// Draw returns the next number of a tenant.
func (n *Numbers) Draw(ctx context.Context, tenant string) (int32, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r, etag, err := n.get(ctx, tenant)
	if err != nil {
		return 0, fmt.Errorf("read sequence: %w", err)
	}
	number := r.Next
	r.Next++
	raw, err := json.Marshal(r)
	if err != nil {
		return 0, err
	}
	opts := &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace, IfMatch: &etag}
	if _, err := n.table.UpdateEntity(ctx, raw, opts); err != nil {
		return 0, fmt.Errorf("write sequence: %w", err)
	}
	return number, nil
}
