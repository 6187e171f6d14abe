package rules

import (
	"github.com/azpatterns/azpatterns/query"
)

// orOfKeys reports filters that join keys by or: the service scans for them instead of reading the named rows.
var orOfKeys = &Rule{Name: "orofkeys", Severity: Warning, run: func(c *check) {
	for e, plans := range c.plans() {
		for _, p := range plans {
			if p.Plain > p.Class && p.warns(query.WarnOrOfRowKeys, query.WarnOrOfPartitionKeys) {
				c.reportFilter(e, p.value, "keys joined by or are read as a "+p.Plain.String()+"; send one request for each read of the plan (azpatterns: Table.Query sends them)")
				break
			}
		}
	}
}}
