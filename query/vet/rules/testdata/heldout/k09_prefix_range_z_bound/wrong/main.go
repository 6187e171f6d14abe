package tags

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// prefixFilter selects the rows of a partition whose key starts with prefix,
// which must not be empty.
func prefixFilter(partition, prefix string) string {
	end := prefix + "z" // MISTAKE: The upper bound appends a letter z, so names that go on with a character above z are left out.
	return "PartitionKey eq " + literal(partition) +
		" and RowKey ge " + literal(prefix) +
		" and RowKey lt " + literal(end)
}

type Completer struct {
	table *aztables.Client
}

// Complete proposes the tags of a language that start with what was typed.
func (c *Completer) Complete(ctx context.Context, lang, typed string, max int) ([]string, error) {
	if typed == "" || max <= 0 {
		return nil, nil
	}
	filter := prefixFilter(lang, typed)
	pager := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var out []string
	for pager.More() && len(out) < max {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("completing %q: %w", typed, err)
		}
		for _, raw := range page.Entities {
			var row struct{ RowKey string }
			if err := json.Unmarshal(raw, &row); err != nil {
				return nil, err
			}
			out = append(out, row.RowKey)
			if len(out) == max {
				break
			}
		}
	}
	return out, nil
}
