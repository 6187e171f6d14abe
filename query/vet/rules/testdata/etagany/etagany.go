package etagany

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func change([]byte) []byte { return nil }

func update(ctx context.Context, table *aztables.Client, pk, rk string) error {
	reply, err := table.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return err
	}
	_, err = table.UpdateEntity(ctx, change(reply.Value), &aztables.UpdateEntityOptions{
		IfMatch:    to.Ptr(azcore.ETagAny), // want `ETagAny matches every version.*etagany, error`
		UpdateMode: aztables.UpdateModeReplace,
	})
	if err != nil {
		return err
	}
	if len(reply.Value) > 100 {
		_, err = table.DeleteEntity(ctx, pk, rk, &aztables.DeleteEntityOptions{IfMatch: to.Ptr(azcore.ETag("*"))}) // want `ETagAny matches every version`
	}
	return err
}

func fine(ctx context.Context, table *aztables.Client, pk, rk string, body []byte) error {
	if _, err := table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: to.Ptr(azcore.ETagAny)}); err != nil {
		return err
	}
	reply, err := table.GetEntity(ctx, pk, rk, nil)
	if err != nil {
		return err
	}
	if _, err := table.DeleteEntity(ctx, pk, "other", &aztables.DeleteEntityOptions{IfMatch: to.Ptr(azcore.ETagAny)}); err != nil {
		return err
	}
	_, err = table.UpdateEntity(ctx, change(reply.Value), &aztables.UpdateEntityOptions{IfMatch: &reply.ETag})
	return err
}
