package members

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Directory interface {
	Emails(ctx context.Context, club string) ([]string, error)
}

type tableDirectory struct{ c *aztables.Client }

func New(c *aztables.Client) Directory { return tableDirectory{c} }

type row struct {
	RowKey string
	Email  string
}

// Emails lists the addresses of all members of a club.
func (d tableDirectory) Emails(ctx context.Context, club string) ([]string, error) {
	filter := "PartitionKey eq '" + strings.ReplaceAll(club, "'", "''") + "'"
	pager := d.c.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: &filter,
		Select: to.Ptr("RowKey,Email"),
	})
	var out []string
	if pager.More() { // MISTAKE: members after the first 1000 are never read
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var m row
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, fmt.Errorf("decode member: %w", err)
			}
			out = append(out, m.Email)
		}
	}
	return out, nil
}
