package wrong

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Suggestion struct{ Title, ISBN string }

type Catalog struct {
	books *aztables.Client
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Suggest lists up to max titles of a branch that begin with the typed text.
func (c *Catalog) Suggest(ctx context.Context, branch, typed string, max int) ([]Suggestion, error) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if typed == "" {
		return nil, nil
	}
	flt := "PartitionKey eq " + quote(branch) + " and startswith(RowKey, " + quote(typed) + ")" // MISTAKE: no such function in Table Storage
	limit := int32(max)
	pager := c.books.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &flt, Top: &limit})
	out := make([]Suggestion, 0, max)
	for pager.More() && len(out) < max {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var row struct{ RowKey, ISBN string }
			if err := json.Unmarshal(raw, &row); err != nil {
				return nil, err
			}
			if len(out) < max {
				out = append(out, Suggestion{Title: row.RowKey, ISBN: row.ISBN})
			}
		}
	}
	return out, nil
}
