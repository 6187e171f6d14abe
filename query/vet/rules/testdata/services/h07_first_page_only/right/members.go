package members

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type member struct {
	RowKey string
	Mail   string
}

// Mails returns the addresses of all members of a club.
func Mails(ctx context.Context, table *aztables.Client, club string) ([]string, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s'", strings.ReplaceAll(club, "'", "''"))
	pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr(filter),
		Select: to.Ptr("RowKey,Mail"),
	})
	var mails []string
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("members of %s: %w", club, err)
		}
		for _, raw := range page.Entities {
			var m member
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, err
			}
			mails = append(mails, m.Mail)
		}
	}
	return mails, nil
}
