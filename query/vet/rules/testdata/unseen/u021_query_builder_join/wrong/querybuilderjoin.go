package wrong

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Cond is one comparison of a string property.
type Cond struct {
	Prop, Op, Value string
}

type Query []Cond

func Eq(prop, v string) Cond { return Cond{prop, "eq", v} }

func (q Query) And(c Cond) Query { return append(q[:len(q):len(q)], c) }

func (q Query) String() string {
	parts := make([]string, 0, len(q))
	for _, c := range q {
		parts = append(parts, c.Prop+" "+c.Op+" '"+c.Value+"'") // MISTAKE: quotes in the value are not doubled
	}
	return strings.Join(parts, " and ")
}

type Visit func(raw []byte) error

func (q Query) Each(ctx context.Context, c *aztables.Client, visit Visit) error {
	text := q.String()
	p := c.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &text})
	for p.More() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("query %q: %w", text, err)
		}
		for _, raw := range page.Entities {
			if err := visit(raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// DocumentsOf visits the documents of a client that carry the given label.
func DocumentsOf(ctx context.Context, c *aztables.Client, client, label string, visit Visit) error {
	return Query{Eq("PartitionKey", client)}.And(Eq("Label", label)).Each(ctx, c, visit)
}
