package inbox

import (
	"context"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Repository struct {
	table *aztables.Client
}

var errBadPage = errors.New("bad page")

func options(user string) *aztables.ListEntitiesOptions {
	filter := "PartitionKey eq '" + strings.ReplaceAll(user, "'", "''") + "'"
	return &aztables.ListEntitiesOptions{Filter: &filter}
}

// List returns limit messages of a user from the given offset on.
func (r *Repository) List(ctx context.Context, user string, offset, limit int) ([][]byte, error) {
	if offset < 0 || limit < 1 {
		return nil, errBadPage
	}
	var all [][]byte
	pager := r.table.NewListEntitiesPager(options(user))
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entities...)
	}
	if offset > len(all) {
		offset = len(all)
	}
	return all[offset:min(offset+limit, len(all))], nil // MISTAKE: the whole inbox is read for every page of the list instead of going on from a continuation token
}
