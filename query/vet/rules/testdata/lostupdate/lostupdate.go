package lostupdate

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type row struct {
	PartitionKey, RowKey string
	Stock                int
}

func update(ctx context.Context, table, other *aztables.Client) error {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	var r row
	if err := json.Unmarshal(reply.Value, &r); err != nil {
		return err
	}
	r.Stock--
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := table.UpdateEntity(ctx, body, nil); err != nil { // want `overwrites what others wrote.*lostupdate, error`
		return err
	}
	if _, err := table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace}); err != nil { // want `set IfMatch`
		return err
	}
	if _, err := table.UpsertEntity(ctx, body, nil); err != nil { // want `this overwrites what others wrote`
		return err
	}
	// A copy to another table is no update of this one.
	if _, err := other.UpsertEntity(ctx, body, nil); err != nil {
		return err
	}
	_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag, UpdateMode: aztables.UpdateModeReplace})
	return err
}

func replace(ctx context.Context, table *aztables.Client) error {
	if _, err := table.GetEntity(ctx, "p", "r", nil); err != nil {
		return err
	}
	body, err := json.Marshal(row{PartitionKey: "p", RowKey: "r"})
	if err != nil {
		return err
	}
	_, err = table.UpdateEntity(ctx, body, nil)
	return err
}

func later(ctx context.Context, table *aztables.Client) error {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	options := &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}
	options.IfMatch = &reply.ETag
	_, err = table.UpdateEntity(ctx, reply.Value, options)
	return err
}
