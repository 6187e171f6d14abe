package literaltype

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func put(ctx context.Context, table *aztables.Client, due time.Time, bytes int64) error {
	body, err := json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: "p", RowKey: "r"},
		Properties: map[string]any{"DueAt": aztables.EDMDateTime(due.UTC()), "Bytes": aztables.EDMInt64(bytes)},
	})
	if err != nil {
		return err
	}
	_, err = table.AddEntity(ctx, body, nil)
	return err
}

func overdue(now time.Time) []*aztables.ListEntitiesOptions {
	text := fmt.Sprintf("PartitionKey eq 'p' and DueAt lt '%s'", now.UTC().Format(time.RFC3339))
	local := fmt.Sprintf("PartitionKey eq 'p' and DueAt lt datetime'%s'", now.Format("2006-01-02T15:04:05Z")) // want `this layout calls the time UTC`
	plain := fmt.Sprintf("PartitionKey eq 'p' and DueAt lt datetime'%s'", now)                                // want `a time is written into the filter in a form`
	fine := fmt.Sprintf("PartitionKey eq 'p' and DueAt lt datetime'%s'", now.UTC().Format("2006-01-02T15:04:05Z"))
	return []*aztables.ListEntitiesOptions{{Filter: &text} /* want `DueAt: the property is of type DateTime` */, {Filter: &local}, {Filter: &plain}, {Filter: &fine}}
}

func bytesOf(row map[string]any) float64 {
	n, _ := row["Bytes"].(float64) // want `Bytes is an Int64, which is a string in JSON`
	return n
}
