package wrong

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Alert struct {
	PartitionKey string
	RowKey       string
	Severity     string
}

var urgent = []string{"critical", "fatal"}

func severityClause(levels []string) string {
	terms := make([]string, len(levels))
	for i, l := range levels {
		terms[i] = fmt.Sprintf("Severity eq '%s'", l)
	}
	return strings.Join(terms, " or ") // MISTAKE: joined with and later, the second term escapes the tenant
}

// UrgentAlerts returns what needs attention for one tenant.
func UrgentAlerts(ctx context.Context, alerts *aztables.Client, tenant string) ([]Alert, error) {
	where := fmt.Sprintf("PartitionKey eq '%s' and %s", tenant, severityClause(urgent))
	pager := alerts.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &where})
	var found []Alert
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("alerts of %s: %w", tenant, err)
		}
		for i := range page.Entities {
			var a Alert
			if err := json.Unmarshal(page.Entities[i], &a); err != nil {
				return nil, err
			}
			found = append(found, a)
		}
	}
	return found, nil
}
