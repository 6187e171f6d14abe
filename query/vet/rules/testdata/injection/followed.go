package injection

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/injection/filters"
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

func twoResults(table *aztables.Client, name, city string) error {
	filter, err := built(name) // want `a quote in this value ends the string`
	if err != nil {
		return err
	}
	other, err := escaped(name)
	if err != nil {
		return err
	}
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &other})
	imported := filters.ByName("Berlin", name) // want `a quote in this value ends the string`
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &imported})
	safe := filters.Safe("Berlin", name)
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &safe})
	quoted := fmt.Sprintf("PartitionKey eq '%s'", filters.Doubled(name))
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &quoted})
	return nil
}

func built(name string) (string, error) {
	if name == "" {
		return "", errors.New("no name")
	}
	return fmt.Sprintf("PartitionKey eq 'Berlin' and RowKey eq '%s'", name), nil
}

func escaped(name string) (string, error) {
	if name == "" {
		return "", errors.New("no name")
	}
	return fmt.Sprintf("PartitionKey eq 'Berlin' and RowKey eq '%s'", strings.ReplaceAll(name, "'", "''")), nil
}
