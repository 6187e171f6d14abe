package tablescan

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const byCity = "City eq 'Bern'"

type store struct{ table *aztables.Client }

func (s *store) constant() {
	s.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr(byCity)}) // want `whole table for this filter.*TableScan .*City eq \?.*tablescan, warning`
}

func (s *store) formatted(age int) {
	filter := fmt.Sprintf("Age gt %d", age)
	s.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}) // want `TableScan .*Age gt \?`
}

func (s *store) assigned(age int32) {
	options := &aztables.ListEntitiesOptions{Top: to.Ptr(int32(10))}
	filter := "RowKey eq 'a'"
	filter += " and Age gt " + fmt.Sprint(age)
	options.Filter = &filter // want `TableScan`
	open := "PartitionKey gt 'a'"
	options.Filter = &open // want `TableScan`
	s.table.NewListEntitiesPager(options)
}

func (s *store) built(cities bool) {
	var b strings.Builder
	b.WriteString("Age gt 3")
	if cities {
		b.WriteString(" and City eq 'Bern'")
	}
	s.list(b.String()) // want `TableScan`
}

func (s *store) list(filter string) {
	s.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
}

func (s *store) selected(pk string) string {
	if pk == "" {
		return ""
	}
	return "PartitionKey eq '" + strings.ReplaceAll(pk, "'", "''") + "'"
}

func (s *store) fine(ctx context.Context, number int, all bool) {
	// The partition is selected.
	s.list("PartitionKey eq 'a' and Age gt 3")
	s.list(fmt.Sprintf("PartitionKey eq '%d' and Age gt 3", number))
	// Both ends of the range are set.
	s.list("PartitionKey ge 'a' and PartitionKey lt 'b'")
	// The whole table is what the program asks for.
	s.table.NewListEntitiesPager(nil) // want `the whole table is read`
	s.list("")
	s.list("PartitionKey ge ''")
	// One of the filters is fine, so the other may be meant.
	filter := "PartitionKey eq 'a'"
	if all {
		filter = "City eq 'Bern'"
	}
	s.list(filter)
	// A part of the filter is not known.
	s.list(s.selected("x"))
	s.list(s.selected("x") + " and Age gt 3")
	where := "Age gt 3"
	for range number {
		where = s.selected(where)
	}
	s.list(where)
	// The tables of an account, not the entities of one.
	new(aztables.ServiceClient).NewListTablesPager(&aztables.ListTablesOptions{Filter: to.Ptr("TableName ge 'a'")})
}
