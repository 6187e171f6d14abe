package moved

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

func archive(ctx context.Context, current, old *aztables.Client) error {
	reply, err := current.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	if _, err := current.DeleteEntity(ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: &reply.ETag}); err != nil { // want `what is deleted here is written elsewhere only afterwards.*moved, error`
		return err
	}
	_, err = old.UpsertEntity(ctx, reply.Value, nil)
	return err
}

func archiveFirst(ctx context.Context, current, old *aztables.Client) error {
	reply, err := current.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	if _, err := old.UpsertEntity(ctx, reply.Value, nil); err != nil {
		return err
	}
	_, err = current.DeleteEntity(ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: &reply.ETag})
	return err
}

func remove(ctx context.Context, table *aztables.Client, files *container.Client) error {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	var row struct{ Photo string }
	if err := json.Unmarshal(reply.Value, &row); err != nil {
		return err
	}
	if _, err := files.NewBlobClient(row.Photo).Delete(ctx, nil); err != nil { // want `the row refers to this blob until it is deleted too`
		return err
	}
	_, err = table.DeleteEntity(ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: &reply.ETag})
	return err
}

func rename(ctx context.Context, from, to *blob.Client) error {
	if _, err := to.StartCopyFromURL(ctx, from.URL(), nil); err != nil {
		return err
	}
	_, err := from.Delete(ctx, nil) // want `the copy was only started`
	return err
}

func renameSafely(ctx context.Context, from, to *blob.Client) error {
	reply, err := to.StartCopyFromURL(ctx, from.URL(), nil)
	if err != nil || *reply.CopyStatus != blob.CopyStatusTypeSuccess {
		return err
	}
	_, err = from.Delete(ctx, nil)
	return err
}

type rows struct{ table *aztables.Client }

func (r *rows) get(ctx context.Context, key string) ([]byte, error) {
	reply, err := r.table.GetEntity(ctx, "p", key, nil)
	return reply.Value, err
}

func (r *rows) put(ctx context.Context, row []byte) error {
	_, err := r.table.UpsertEntity(ctx, row, nil)
	return err
}

func (r *rows) remove(ctx context.Context, key string) error {
	_, err := r.table.DeleteEntity(ctx, "p", key, nil)
	return err
}

func move(ctx context.Context, from, to *rows) error {
	row, err := from.get(ctx, "r")
	if err != nil {
		return err
	}
	if err := from.remove(ctx, "r"); err != nil { // want `what is deleted here is written elsewhere only afterwards`
		return err
	}
	return to.put(ctx, row)
}
