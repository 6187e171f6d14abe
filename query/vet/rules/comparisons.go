package rules

import (
	"fmt"
	"go/ast"

	"github.com/azpatterns/azpatterns/query"
)

// comparisons reports filters with more comparisons than the service accepts, and those to which a loop adds comparisons.
var comparisons = &Rule{Name: "comparisons", Severity: Error, run: func(c *check) {
	c.plans(func(e ast.Expr, plans []plan) {
		for _, p := range plans {
			switch n := p.value.Parsed.Comparisons(); {
			case n > query.MaxComparisons:
				c.report(e, fmt.Sprintf("the filter has %d comparisons, and the service rejects more than %d; divide it: %s (azpatterns: Table.Query divides filters)", n, query.MaxComparisons, p.text))
				return
			case p.value.Open && n > 1 && !c.bounds(e):
				c.report(e, fmt.Sprintf("a loop adds comparisons to the filter without a limit, and the service rejects more than %d; send a query for each %d values (azpatterns: Property.In)", query.MaxComparisons, query.MaxComparisons-1))
				return
			}
		}
	})
}}

// bounds reports whether the function around n contains a number from 1 to 15, which may be a limit of its loop.
func (c *check) bounds(n ast.Node) bool {
	return c.hasNumber(n, 2, query.MaxComparisons)
}
