package rules

import (
	"fmt"

	"github.com/azpatterns/azpatterns/query"
)

// comparisons reports filters with more comparisons than the service accepts, and those to which a loop adds comparisons.
var comparisons = &Rule{Name: "comparisons", Severity: Error, run: func(c *check) {
	for e, plans := range c.plans() {
		for _, p := range plans {
			n := p.value.Parsed.Comparisons()
			if n > query.MaxComparisons {
				c.reportFilter(e, p.value, fmt.Sprintf("the filter has %d comparisons, and the service rejects more than %d; divide it (azpatterns: Table.Query divides filters)", n, query.MaxComparisons))
				break
			}
			if p.value.Open && n > 1 && !c.hasLimit(e, query.MaxComparisons) {
				c.reportFilter(e, p.value, fmt.Sprintf("a loop adds comparisons to the filter without a limit, and the service rejects more than %d; send a query for each %d values (azpatterns: Property.In)", query.MaxComparisons, query.MaxComparisons-1))
				break
			}
		}
	}
}}
