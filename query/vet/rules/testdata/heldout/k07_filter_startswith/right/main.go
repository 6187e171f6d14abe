package documents

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Year int

func (y Year) prefix() string { return fmt.Sprintf("%04d-", int(y)) }

type Document struct {
	RowKey string
	Title  string
}

type Archive struct {
	docs *aztables.Client
}

// OfYear lists the documents of one year; row keys look like 2024-000017.
func (a *Archive) OfYear(ctx context.Context, owner uuid.UUID, y Year) ([]Document, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey ge '%s' and RowKey lt '%s'", owner, y.prefix(), (y + 1).prefix())
	return a.query(ctx, filter)
}

func (a *Archive) query(ctx context.Context, filter string) ([]Document, error) {
	var docs []Document
	pager := a.docs.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("querying documents: %w", err)
		}
		for _, raw := range page.Entities {
			var d Document
			if err := json.Unmarshal(raw, &d); err != nil {
				return nil, fmt.Errorf("decoding document: %w", err)
			}
			docs = append(docs, d)
		}
	}
	return docs, nil
}
