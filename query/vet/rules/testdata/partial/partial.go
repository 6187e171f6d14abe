package partial

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
)

func label(ctx context.Context, file *blob.Client, key, value string) error {
	properties, err := file.GetProperties(ctx, nil)
	if err != nil || properties.Metadata[key] != nil {
		return err
	}
	_, err = file.SetMetadata(ctx, map[string]*string{key: &value}, nil) // want `this replaces all metadata of the blob.*partial, error`
	return err
}

func labelMore(ctx context.Context, file *blob.Client, key, value string) error {
	properties, err := file.GetProperties(ctx, nil)
	if err != nil {
		return err
	}
	all := map[string]*string{key: &value}
	for name, text := range properties.Metadata {
		all[name] = text
	}
	_, err = file.SetMetadata(ctx, all, nil)
	return err
}

func cache(ctx context.Context, file *blob.Client, value string) error {
	_, err := file.SetHTTPHeaders(ctx, blob.HTTPHeaders{BlobCacheControl: &value}, nil) // want `this sets all headers of the blob`
	return err
}

func typed(ctx context.Context, file *blob.Client, value string) error {
	_, err := file.SetHTTPHeaders(ctx, blob.HTTPHeaders{BlobCacheControl: &value, BlobContentType: to.Ptr("text/html")}, nil)
	return err
}

type devices struct{ table *aztables.Client }

func (d *devices) enrol(ctx context.Context, site, id, model string) error {
	body, err := json.Marshal(map[string]any{"PartitionKey": site, "RowKey": id, "Model": model})
	if err != nil {
		return err
	}
	_, err = d.table.AddEntity(ctx, body, nil)
	return err
}

func (d *devices) seen(ctx context.Context, site, id string) error {
	body, err := json.Marshal(map[string]any{"PartitionKey": site, "RowKey": id, "Seen": time.Now().UTC().Format(time.RFC3339)})
	if err != nil {
		return err
	}
	_, err = d.table.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}) // want `this replaces the row, which removes Model`
	return err
}

func (d *devices) unassign(ctx context.Context, site, id string, tag *aztables.UpdateEntityOptions) error {
	body, err := json.Marshal(map[string]any{"PartitionKey": site, "RowKey": id, "Owner": nil})
	if err != nil {
		return err
	}
	_, err = d.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge, IfMatch: tag.IfMatch}) // want `a merge keeps the properties that the entity lacks or has as null`
	return err
}

func (d *devices) release(ctx context.Context, site, id string, mode aztables.UpdateMode) error {
	reply, err := d.table.GetEntity(ctx, site, id, nil)
	if err != nil {
		return err
	}
	var row map[string]any
	if err := json.Unmarshal(reply.Value, &row); err != nil {
		return err
	}
	delete(row, "odata.metadata")
	delete(row, "Owner")
	body, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = d.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag, UpdateMode: aztables.UpdateModeReplace})
	return err
}

func (d *devices) raise(ctx context.Context, visit func([]byte) ([]byte, error)) error {
	pager := d.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'p'"), Select: to.Ptr("PartitionKey,RowKey,Price")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		var actions []aztables.TransactionAction
		for _, row := range page.Entities[:min(100, len(page.Entities))] {
			body, err := visit(row)
			if err != nil {
				return err
			}
			actions = append(actions, aztables.TransactionAction{ // want `overwrites what others wrote since then`
				ActionType: aztables.TransactionTypeUpdateReplace, // want `the row is read without the properties that Select leaves out`
				Entity:     body,
			})
		}
		if _, err := d.table.SubmitTransaction(ctx, actions, nil); err != nil {
			return err
		}
	}
	return nil
}

type seat struct {
	PartitionKey string
	RowKey       string
	Guest        *string
	Paid         bool `json:",omitempty"`
	Row          int32
}

func free(ctx context.Context, table *aztables.Client) error {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	var s seat
	if err := json.Unmarshal(reply.Value, &s); err != nil {
		return err
	}
	s.Paid = false
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag, UpdateMode: aztables.UpdateModeMerge}) // want `a merge keeps the properties that the entity lacks`
	return err
}

func first(ctx context.Context, table *aztables.Client) error {
	reply, err := table.GetEntity(ctx, "p", "r", nil)
	if err != nil {
		return err
	}
	var s seat
	if err := json.Unmarshal(reply.Value, &s); err != nil {
		return err
	}
	s.Row = 0
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &reply.ETag, UpdateMode: aztables.UpdateModeMerge})
	return err
}
