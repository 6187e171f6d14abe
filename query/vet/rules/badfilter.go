package rules

import (
	"errors"

	"github.com/azpatterns/azpatterns/query"
)

// badFilter reports filters that the service rejects.
var badFilter = &Rule{Name: "badfilter", Severity: Error, run: func(c *check) {
	for _, filter := range c.Filters {
		for _, v := range filter.Values {
			var syntax *query.SyntaxError
			if !filter.Select && !filter.Tables && !v.Open && len(filter.Values) == 1 && errors.As(v.Err, &syntax) {
				c.report(filter.Expr, "the service rejects this filter: "+syntax.Error()+" (azpatterns: package query writes filters)")
			}
		}
	}
}}
