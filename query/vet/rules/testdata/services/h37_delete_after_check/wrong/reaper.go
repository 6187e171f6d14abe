package reaper

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type lock struct {
	PartitionKey string
	RowKey       string
	ETag         azcore.ETag `json:"odata.etag"`
	Until        time.Time
}

type Reaper struct {
	table *aztables.Client
	clock func() time.Time
}

// Sweep removes the locks of a pool that no one has renewed in time. Owners
// renew a lock by writing a later time into Until.
func (r *Reaper) Sweep(ctx context.Context, pool string) (removed int, err error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(pool, "'", "''") + "'"
	pager := r.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return removed, err
		}
		for _, raw := range page.Entities {
			var l lock
			if err := json.Unmarshal(raw, &l); err != nil {
				return removed, err
			}
			if r.clock().Before(l.Until) {
				continue
			}
			_, err := r.table.DeleteEntity(ctx, l.PartitionKey, l.RowKey, nil) // MISTAKE: the owner may have renewed the lock since the read, and its live lock is deleted
			var re *azcore.ResponseError
			if errors.As(err, &re) && (re.StatusCode == http.StatusNotFound || re.StatusCode == http.StatusPreconditionFailed) {
				continue
			}
			if err != nil {
				return removed, err
			}
			removed++
		}
	}
	return removed, nil
}
