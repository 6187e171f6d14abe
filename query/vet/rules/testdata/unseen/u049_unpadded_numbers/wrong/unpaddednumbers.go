package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Revision struct {
	Number int
	Text   string
}

type Wiki struct{ pages *aztables.Client }

func revKey(n int) string { return "r" + strconv.Itoa(n) } // MISTAKE: r10 sorts before r9

func (w Wiki) Save(ctx context.Context, page string, rev Revision) error {
	raw, err := json.Marshal(map[string]any{
		"PartitionKey": page,
		"RowKey":       revKey(rev.Number),
		"Text":         rev.Text,
	})
	if err != nil {
		return err
	}
	_, err = w.pages.AddEntity(ctx, raw, nil)
	return err
}

// Since returns the revisions after the given one.
func (w Wiki) Since(ctx context.Context, page string, n int) ([]Revision, error) {
	f := fmt.Sprintf("PartitionKey eq '%s' and RowKey gt '%s'", strings.ReplaceAll(page, "'", "''"), revKey(n))
	var revs []Revision
	pager := w.pages.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		resp, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, ent := range resp.Entities {
			var row struct{ RowKey, Text string }
			if err := json.Unmarshal(ent, &row); err != nil {
				return nil, err
			}
			num, err := strconv.Atoi(row.RowKey[1:])
			if err != nil {
				return nil, fmt.Errorf("key %q: %w", row.RowKey, err)
			}
			revs = append(revs, Revision{num, row.Text})
		}
	}
	return revs, nil
}
