package injection

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func (s *store) Slices(names []string, active bool, pointer *string) {
	parts := []string{"PartitionKey eq '" + *pointer + "'"} // want `a quote in this value`
	if active {
		parts = append(parts, "Active eq true")
	}
	for _, name := range names {
		parts = append(parts, "Name ne '"+name+"'") // want `a quote in this value`
	}
	s.list(join(parts, " and ") + join(nil, ""))        // not followed
	s.list(strings.Join(parts, " and "))                // want `a loop adds comparisons`
	s.list(fmt.Sprintf("PartitionKey eq %q", names[0])) // want `the service rejects this filter`
}

func join(parts []string, separator string) string { return strings.Join(parts, separator) }

func (s *store) Closure(pk string) {
	of := func(name, value string) string { return name + " eq '" + value + "'" }
	s.list(of("PartitionKey", pk)) // want `a quote in this value`
	s.list(of("PartitionKey", strings.ReplaceAll(pk, "'", "''")))
	s.Table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: func() *string { f := of("PartitionKey", pk); return &f }(), // want `a quote in this value`
	})
}

type condition struct{ tenant, city string }

func (q condition) filter() string {
	f := "PartitionKey eq '" + q.tenant + "'" // want `a quote in this value`
	if q.city != "" {
		f += " and City eq '" + escapeOData(q.city) + "'"
	}
	return f
}

func quoted(value string) string {
	value = strings.ReplaceAll(value, "'", "''")
	return "'" + value + "'"
}

func (s *store) Methods(q condition) {
	s.list(q.filter())
	s.list("PartitionKey eq " + quoted(q.tenant))
}
