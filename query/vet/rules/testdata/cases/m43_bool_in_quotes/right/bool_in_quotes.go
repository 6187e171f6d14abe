package features

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Flags struct{ flags *aztables.Client }

type Flag struct {
	PartitionKey, RowKey string
	Enabled              bool
}

func (f *Flags) Set(ctx context.Context, env, name string, on bool) error {
	b, err := json.Marshal(Flag{env, name, on})
	if err != nil {
		return err
	}
	_, err = f.flags.UpsertEntity(ctx, b, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}

// Enabled returns the names of the flags that are on.
func (f *Flags) Enabled(ctx context.Context, env string) ([]string, error) {
	query := fmt.Sprintf("PartitionKey eq '%s' and Enabled eq %t", strings.ReplaceAll(env, "'", "''"), true)
	var on []string
	pager := f.flags.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr(query)})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Entities {
			var fl Flag
			if err := json.Unmarshal(e, &fl); err != nil {
				return nil, err
			}
			on = append(on, fl.RowKey)
		}
	}
	sort.Strings(on)
	return on, nil
}
