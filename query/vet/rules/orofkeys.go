package rules

import (
	"go/ast"

	"github.com/azpatterns/azpatterns/query"
)

// orOfKeys reports filters that join keys by or: the service scans for them instead of reading the named rows.
var orOfKeys = &Rule{Name: "orofkeys", Severity: Warning, run: func(c *check) {
	c.plans(func(e ast.Expr, plans []plan) {
		for _, p := range plans {
			if p.Plain > p.Class && p.warns(query.WarnOrOfRowKeys, query.WarnOrOfPartitionKeys) {
				c.report(e, "keys joined by or are read as a "+p.Plain.String()+"; send one request for each read of the plan: "+p.text+
					" (azpatterns: Table.Query sends the reads of this plan)")
				return
			}
		}
	})
}}
