package inbox

import (
	"context"
	"encoding/base64"
	"encoding/json"
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

type token struct{ PK, RK *string }

// List returns a page of at most limit messages of a user and the mark of the next page.
func (r *Repository) List(ctx context.Context, user, mark string, limit int32) ([][]byte, string, error) {
	if limit < 1 || limit > 1000 {
		return nil, "", errBadPage
	}
	opts := options(user)
	opts.Top = &limit
	if mark != "" {
		raw, err := base64.URLEncoding.DecodeString(mark)
		if err != nil {
			return nil, "", errBadPage
		}
		var t token
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, "", errBadPage
		}
		opts.NextPartitionKey, opts.NextRowKey = t.PK, t.RK
	}
	page, err := r.table.NewListEntitiesPager(opts).NextPage(ctx)
	if err != nil {
		return nil, "", err
	}
	if page.NextPartitionKey == nil && page.NextRowKey == nil {
		return page.Entities, "", nil
	}
	raw, err := json.Marshal(token{page.NextPartitionKey, page.NextRowKey})
	if err != nil {
		return nil, "", err
	}
	return page.Entities, base64.URLEncoding.EncodeToString(raw), nil
}
