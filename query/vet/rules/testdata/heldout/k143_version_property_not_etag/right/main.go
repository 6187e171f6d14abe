package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrVersion = errors.New("version mismatch")

type Document struct {
	PartitionKey string
	RowKey       string
	Title        string
	Body         string
	Version      int32
}

type Documents struct {
	table *aztables.Client
}

// Save stores a document if the caller has seen its latest version.
func (d *Documents) Save(ctx context.Context, folder, id uuid.UUID, title, text string, version int32) (int32, error) {
	if len(title) > 300 || len(text) > 20000 {
		return 0, fmt.Errorf("document %s is too long", id)
	}
	existing, err := d.table.GetEntity(ctx, folder.String(), id.String(), nil)
	if err != nil {
		return 0, fmt.Errorf("reading document %s: %w", id, err)
	}
	var doc Document
	if err := json.Unmarshal(existing.Value, &doc); err != nil {
		return 0, fmt.Errorf("decoding document %s: %w", id, err)
	}
	if doc.Version != version {
		return 0, ErrVersion
	}
	doc.Title, doc.Body = title, text
	doc.Version++
	body, err := json.Marshal(doc)
	if err != nil {
		return 0, err
	}
	_, err = d.table.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace, IfMatch: &existing.ETag})
	if err != nil {
		return 0, fmt.Errorf("saving document %s: %w", id, err)
	}
	return doc.Version, nil
}
