package status

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Report struct {
	PartitionKey string
	RowKey       string
	State        string
}

func rowKey(t time.Time, id string) string {
	return fmt.Sprintf("%014d_%s", t.UnixMilli(), id)
}

type Board struct{ table *aztables.Client }

func (b *Board) Add(ctx context.Context, machine, id, state string, at time.Time) error {
	raw, err := json.Marshal(Report{PartitionKey: machine, RowKey: rowKey(at, id), State: state})
	if err != nil {
		return err
	}
	_, err = b.table.AddEntity(ctx, raw, nil)
	return err
}

// Latest returns the newest report of a machine, or nil.
func (b *Board) Latest(ctx context.Context, machine string) (*Report, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(machine, "'", "''") + "'"
	one := int32(1)
	pager := b.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter, Top: &one}) // MISTAKE: rows come in ascending key order, so this is the oldest report
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var r Report
			if err := json.Unmarshal(raw, &r); err != nil {
				return nil, err
			}
			return &r, nil
		}
	}
	return nil, nil
}
