package injection

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/query/vet/rules/testdata/injection/conditions"
)

func elsewhere(table *aztables.Client, town string) {
	wrong := new(conditions.All).Eq("PartitionKey", town).String() // want `a quote in this value ends the string in the filter`
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &wrong})
	correct := new(conditions.All).EqAny("PartitionKey", "eq", town).Eq("RowKey", "r").String()
	table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &correct})
}

type conditionsOfRows struct{ parts []string }

func (c *conditionsOfRows) and(name, value string) {
	c.parts = append(c.parts, fmt.Sprintf("%s eq '%s'", name, value)) // want `a quote in this value ends the string in the filter`
}

func (c *conditionsOfRows) options(name, value string) *aztables.ListEntitiesOptions {
	c.and(name, value)
	c.parts = append(c.parts, fmt.Sprintf("%s eq '%s'", name, strings.ReplaceAll(value, "'", "''")))
	filter := strings.Join(c.parts, " and ")
	return &aztables.ListEntitiesOptions{Filter: &filter}
}
