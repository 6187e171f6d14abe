package config

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var name = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

type Setting struct {
	PartitionKey string
	RowKey       string
	Value        string
}

type Source struct {
	table *aztables.Client
}

// FromVersion reads the settings of a service that were added since a version.
func (s *Source) FromVersion(ctx context.Context, service string, version int) (map[string]string, error) {
	if !name.MatchString(service) {
		return nil, fmt.Errorf("bad service name %q", service)
	}
	from := fmt.Sprintf("v%06d", version)
	filter := fmt.Sprintf("PartitionKey eq '%s' or RowKey ge '%s'", service, from) // MISTAKE: The two key comparisons are joined with or, so rows of other partitions come back as well.
	settings := map[string]string{}
	pager := s.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("settings of %s: %w", service, err)
		}
		for _, raw := range page.Entities {
			var set Setting
			if err := json.Unmarshal(raw, &set); err != nil {
				return nil, fmt.Errorf("decoding setting: %w", err)
			}
			settings[set.RowKey] = set.Value
		}
	}
	return settings, nil
}
