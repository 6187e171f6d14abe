package alerts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Alert struct {
	RowKey   string
	Severity int32
	Message  string
}

type Reader struct {
	table *aztables.Client
}

// Severe calls fn for every alert of a site at or above a severity.
func (r *Reader) Severe(ctx context.Context, site uuid.UUID, min int32, fn func(Alert) error) error {
	filter := fmt.Sprintf("PartitionKey eq '%s' and Severity ge %d", site, min)
	pager := r.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("alerts of %s: %w", site, err)
		}
		for _, raw := range page.Entities {
			var a Alert
			if err := json.Unmarshal(raw, &a); err != nil {
				return fmt.Errorf("decoding alert: %w", err)
			}
			if err := fn(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// Messages returns the texts of the alerts at or above a severity.
func (r *Reader) Messages(ctx context.Context, site uuid.UUID, min int32) ([]string, error) {
	var texts []string
	err := r.Severe(ctx, site, min, func(a Alert) error {
		texts = append(texts, a.Message)
		return nil
	})
	return texts, err
}
