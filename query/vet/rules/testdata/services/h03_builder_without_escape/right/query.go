package query

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Q collects the terms of a filter for one partition.
type Q struct {
	terms []string
}

func In(partition string) *Q {
	return (&Q{}).Str("PartitionKey", "eq", partition)
}

func (q *Q) Str(name, op, value string) *Q {
	q.terms = append(q.terms, name+" "+op+" '"+strings.ReplaceAll(value, "'", "''")+"'")
	return q
}

func (q *Q) Filter() *string {
	s := strings.Join(q.terms, " and ")
	return &s
}

type Contacts struct {
	table *aztables.Client
}

func New(table *aztables.Client) *Contacts { return &Contacts{table: table} }

// ByName lists the contacts of an account whose row keys begin with "name_"
// and whose last name is the given one.
func (c *Contacts) ByName(ctx context.Context, account, lastName string) ([][]byte, error) {
	q := In(account).Str("RowKey", "ge", "name_").Str("RowKey", "lt", "name`").Str("LastName", "eq", lastName)
	pager := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: q.Filter()})
	var out [][]byte
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Entities...)
	}
	return out, nil
}
