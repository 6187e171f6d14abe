package rules

import (
	"go/ast"

	"github.com/azpatterns/azpatterns/query"
	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// tableScan reports filters for which the service reads the whole table.
var tableScan = &Rule{Name: "tablescan", Severity: Warning, run: func(c *check) {
	c.plans(func(e ast.Expr, plans []plan) {
		for _, p := range plans {
			if p.Plain != query.TableScan || everyRow(p.Plan) || p.warns(query.WarnOrOfPartitionKeys, query.WarnOrOfRowKeys) {
				return // one of the texts that the filter can have is fine
			}
		}
		c.report(e, "the service reads the whole table for this filter: "+plans[0].text+
			"; select a partition with PartitionKey eq, or keep an index (azpatterns: secondaryindex.Inter)")
	})
}}

// everyRow reports whether the filter has no condition but those that every row meets, such as PartitionKey ge ”.
func everyRow(p query.Plan) bool { return len(p.Reads()) == 1 && p.Reads()[0].Filter.IsZero() }

// A plan is that of one text of a filter.
type plan struct {
	query.Plan
	value source.Value
	text  string
}

// plans calls f for each filter of entities whose texts can all be parsed.
func (c *check) plans(f func(ast.Expr, []plan)) {
	for _, filter := range c.Filters {
		if filter.Select || filter.Tables || len(filter.Values) == 0 {
			continue
		}
		var plans []plan
		for _, v := range filter.Values {
			if v.Example == "" || v.Err != nil {
				break
			}
			plans = append(plans, plan{query.Explain(v.Parsed), v, source.Plan(v.Parsed)})
		}
		if len(plans) == len(filter.Values) {
			f(filter.Expr, plans)
		}
	}
}

// warns reports whether the plan has a warning with one of the codes.
func (p plan) warns(codes ...query.WarningCode) bool {
	for _, w := range p.Warnings {
		for _, code := range codes {
			if w.Code == code {
				return true
			}
		}
	}
	return false
}
