package revisions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type revision struct {
	PartitionKey string
	RowKey       string
	Text         string
}

// key makes revision numbers comparable as row keys.
func key(number uint32) string { return fmt.Sprintf("%d", number) } // MISTAKE: Revision numbers are used as row keys without leading zeros, so 10 sorts before 9 and the range and last row are wrong.

type History struct {
	table *aztables.Client
}

func (h *History) Append(ctx context.Context, page uuid.UUID, number uint32, text string) error {
	if len(text) > 20000 {
		return fmt.Errorf("revision %d has %d bytes", number, len(text))
	}
	body, err := json.Marshal(revision{PartitionKey: page.String(), RowKey: key(number), Text: text})
	if err != nil {
		return err
	}
	if _, err := h.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("revision %d of %s: %w", number, page, err)
	}
	return nil
}

// Since returns the texts written after a revision, oldest first.
func (h *History) Since(ctx context.Context, page uuid.UUID, number uint32) ([]string, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey gt '%s'", page, key(number))
	pager := h.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var texts []string
	for pager.More() {
		resp, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("revisions of %s: %w", page, err)
		}
		for _, raw := range resp.Entities {
			var r revision
			if err := json.Unmarshal(raw, &r); err != nil {
				return nil, err
			}
			texts = append(texts, r.Text)
		}
	}
	return texts, nil
}
