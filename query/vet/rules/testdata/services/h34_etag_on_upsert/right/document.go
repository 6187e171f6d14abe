package document

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Document struct {
	PartitionKey string
	RowKey       string
	Title        string
	Body         string
	etag         azcore.ETag
}

type Drafts struct {
	table *aztables.Client
}

func (d *Drafts) Open(ctx context.Context, author, id string) (*Document, error) {
	resp, err := d.table.GetEntity(ctx, author, id, nil)
	if err != nil {
		return nil, err
	}
	doc := &Document{etag: resp.ETag}
	if err := json.Unmarshal(resp.Value, doc); err != nil {
		return nil, err
	}
	return doc, nil
}

// Save stores a document that was opened before; it fails when somebody else
// has saved it in the meantime.
func (d *Drafts) Save(ctx context.Context, doc *Document) error {
	raw, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	resp, err := d.table.UpdateEntity(ctx, raw, &aztables.UpdateEntityOptions{
		IfMatch:    &doc.etag,
		UpdateMode: aztables.UpdateModeReplace,
	})
	if err != nil {
		return err
	}
	doc.etag = resp.ETag
	return nil
}
