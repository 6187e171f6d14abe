package people

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type condition struct {
	column string
	value  string
}

func where(conds ...condition) string {
	parts := make([]string, 0, len(conds))
	for _, c := range conds {
		parts = append(parts, c.column+" eq '"+c.value+"'") // MISTAKE: The filter helper joins values into literals without escaping apostrophes, so a surname such as O'Neill breaks the query.
	}
	return strings.Join(parts, " and ")
}

type Person struct {
	PartitionKey string
	RowKey       string
	Surname      string
	Email        string
}

type Directory struct {
	table *aztables.Client
}

func NewDirectory(table *aztables.Client) *Directory {
	return &Directory{table: table}
}

// BySurname finds everyone in an office who has the given surname.
func (d *Directory) BySurname(ctx context.Context, office, surname string) ([]Person, error) {
	filter := where(condition{"PartitionKey", office}, condition{"Surname", surname})
	pager := d.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var people []Person
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing people of %s: %w", office, err)
		}
		for _, raw := range page.Entities {
			var p Person
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, fmt.Errorf("decoding person: %w", err)
			}
			people = append(people, p)
		}
	}
	return people, nil
}
