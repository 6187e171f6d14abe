package tenants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var ErrTenant = errors.New("tenant is required")

type Secret struct {
	PartitionKey string
	RowKey       string
	Label        string
}

type Vault struct {
	secrets *aztables.Client
}

func filterFor(tenant string) string {
	return "PartitionKey eq '" + strings.ReplaceAll(tenant, "'", "''") + "'"
}

// List returns the labels of the secrets of a tenant.
func (v *Vault) List(ctx context.Context, tenant string) ([]Secret, error) {
	options := &aztables.ListEntitiesOptions{}
	if tenant != "" { // MISTAKE: An empty tenant is not refused and yields a filter on all partitions, so one tenant sees the rows of all.
		filter := filterFor(tenant)
		options.Filter = &filter
	}
	pager := v.secrets.NewListEntitiesPager(options)
	var secrets []Secret
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("secrets of %q: %w", tenant, err)
		}
		for _, raw := range page.Entities {
			var s Secret
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, fmt.Errorf("decoding secret: %w", err)
			}
			secrets = append(secrets, s)
		}
	}
	return secrets, nil
}
