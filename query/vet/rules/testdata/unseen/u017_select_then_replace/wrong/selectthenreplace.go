package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type migration struct {
	tbl    *aztables.Client
	dryRun bool
}

var columns = strings.Join([]string{"PartitionKey", "RowKey", "Status"}, ",")

// renameStatus turns the old status names into the new ones.
func (m migration) renameStatus(ctx context.Context, names map[string]string) (int, error) {
	changed := 0
	pager := m.tbl.NewListEntitiesPager(&aztables.ListEntitiesOptions{Select: &columns})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return changed, err
		}
		for _, raw := range page.Entities {
			var e aztables.EDMEntity
			if err := json.Unmarshal(raw, &e); err != nil {
				return changed, err
			}
			old, _ := e.Properties["Status"].(string)
			repl, ok := names[old]
			if !ok || m.dryRun {
				continue
			}
			e.Properties["Status"] = repl
			out, err := json.Marshal(e)
			if err != nil {
				return changed, err
			}
			tag := azcore.ETag(e.ETag)
			opts := aztables.UpdateEntityOptions{IfMatch: &tag, UpdateMode: aztables.UpdateModeReplace} // MISTAKE: the row was read with a projection
			if _, err := m.tbl.UpdateEntity(ctx, out, &opts); err != nil {
				return changed, fmt.Errorf("%s/%s: %w", e.PartitionKey, e.RowKey, err)
			}
			changed++
		}
	}
	return changed, nil
}
