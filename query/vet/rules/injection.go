package rules

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// injection reports values that are formatted into a filter without escaping.
var injection = &Rule{Name: "injection", Severity: Security, Fixes: true, run: func(c *check) {
	for _, filter := range c.Filters {
		if filter.Select {
			continue
		}
		for _, v := range filter.Values {
			for i, part := range v.Parts {
				if part.Hole == nil || part.Verb == 'q' || !v.Slots[i].Quoted && !v.Slots[i].Operand {
					continue
				}
				_, isCall := c.Follow(part.Hole).(*ast.CallExpr) // which may add the quotes
				if c.MayHaveQuote(part.Hole, 0) && !c.checked(part.Hole) && (v.Slots[i].Quoted || !isCall) {
					c.injection(part.Hole, v, v.Slots[i].Quoted)
				}
			}
		}
	}
}}

func (c *check) injection(hole ast.Expr, v source.Value, quoted bool) {
	if !quoted {
		c.reportFilter(hole, v, "a string is compared in the filter without quotes, so it can add conditions; quote it, and double every quote in it (azpatterns: query.Prop(name).Eq(value))")
		return
	}
	var fixes []analysis.SuggestedFix
	if name, edits, ok := c.nameOf(hole, "strings"); ok && types.Identical(c.TypeOf(hole), types.Typ[types.String]) {
		edits = append(edits, insert(hole.Pos(), name+".ReplaceAll("), insert(hole.End(), `, "'", "''")`))
		fixes = append(fixes, fix("double the quotes", edits...))
	}
	c.reportFilter(hole, v, "a quote in this value ends the string, and the rest of the value changes the filter; double every quote (azpatterns: query.PartitionKey.Eq(value) and the like quote all values)", fixes...)
}
