package flags

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Flag struct {
	PartitionKey string
	RowKey       string
	Enabled      bool
}

type Flags struct {
	table    *aztables.Client
	defaults map[string]bool
}

func (f *Flags) row(ctx context.Context, app, name string) (*Flag, error) {
	resp, err := f.table.GetEntity(ctx, app, name, nil)
	if err != nil {
		return nil, nil // MISTAKE: a timeout or a refused request also looks as if the flag were not set
	}
	var flag Flag
	if err := json.Unmarshal(resp.Value, &flag); err != nil {
		return nil, err
	}
	return &flag, nil
}

// Enabled tells whether a feature of an app is on.
func (f *Flags) Enabled(ctx context.Context, app, name string) (bool, error) {
	flag, err := f.row(ctx, app, name)
	if err != nil {
		return false, err
	}
	if flag == nil {
		return f.defaults[name], nil
	}
	return flag.Enabled, nil
}
