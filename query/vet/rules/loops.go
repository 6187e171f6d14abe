package rules

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// oneByOne reports rows that are read or written one after the other.
var oneByOne = &Rule{Name: "onebyone", Severity: Warning, run: func(c *check) {
	for call := range c.AllCalls() {
		loop, ok := c.Loop(call).(*ast.RangeStmt)
		isRow := c.IsCall(call, "AddEntity", "UpdateEntity", "UpsertEntity", "DeleteEntity", "GetEntity") || c.CallOf(call) == nil && c.FactOf(call).Rows
		if !ok || !isRow || c.isTest(call) || source.IsBasic(c.TypeOf(loop.X), types.IsInteger) || source.Within(loop.X, call) || c.fewRounds(loop) {
			continue
		}
		if !c.first(loop) {
			continue
		}
		if c.Reads(call) {
			c.report(call, "the rows are read one after the other, a request each; read them concurrently, or with one query for a range of keys (azpatterns: Table.Query sends the reads of a filter concurrently)")
		} else {
			c.report(call, "the rows are written one after the other, a request each; write those of a partition with SubmitTransaction, up to 100 at a time (azpatterns: Table.Bulk)")
		}
	}
}}

// fewRounds reports whether a loop ranges over a literal or leaves in its first round.
func (c *check) fewRounds(loop *ast.RangeStmt) bool {
	return c.Literal(loop.X) != nil || source.Terminates(loop.Body.List)
}

// mapOrder reports transactions whose operations or order come from a range over a map.
var mapOrder = &Rule{Name: "maporder", Severity: Warning, run: func(c *check) {
	for loop := range nodes(c, func(*ast.RangeStmt) bool { return true }) {
		if _, isMap := c.TypeOf(loop.X).Underlying().(*types.Map); !isMap {
			continue
		}
		for call := range source.All[*ast.CallExpr](loop.Body) {
			appends := c.IsBuiltin(call, "append") && len(call.Args) > 1 && isActions(c.TypeOf(call))
			if (appends || c.IsCall(call, "SubmitTransaction")) && c.first(c.Decl(loop)) {
				c.report(loop.X, "the order of a map differs each time, so the index of a failed operation means nothing and a repeated run does not continue where the last one failed; range over the sorted keys (azpatterns: Table.Bulk keeps the order)")
			}
		}
	}
}}

// isActions reports whether t is a slice of the operations of a transaction.
func isActions(t types.Type) bool {
	slice, ok := t.Underlying().(*types.Slice)
	return ok && source.IsNamed(slice.Elem(), source.Tables, "TransactionAction")
}

// oneVariable reports rows that are decoded into a variable which keeps the properties of the row before.
var oneVariable = &Rule{Name: "onevariable", Severity: Error, Fixes: true, run: func(c *check) {
	for loop := range nodes(c, func(*ast.RangeStmt) bool { return true }) {
		_, rows := source.Selected(loop.X)
		for call := range source.All[*ast.CallExpr](loop.Body) {
			path, name := c.Callee(call)
			if rows != "Entities" || path != "encoding/json" || name != "Unmarshal" || !c.Mentions(call.Args[0], c.Object(loop.Value)) {
				continue
			}
			target, ok := call.Args[1].(*ast.UnaryExpr)
			if !ok {
				continue
			}
			v := c.Object(target.X)
			if def := c.Definition(v); def == nil || source.Within(loop.Body, def) || source.Any(loop.Body, func(s *ast.AssignStmt) bool { return c.Sets(s, v) }) {
				continue
			}
			var fixes []analysis.SuggestedFix
			if list, i := c.Statement(call); i >= 0 && types.Identical(c.TypeOf(target.X).Underlying(), structOf(c.TypeOf(target.X))) {
				_, typeName := source.NameOf(c.TypeOf(target.X))
				if c.lookup(typeName, call.Pos()) != nil {
					fixes = append(fixes, fix("begin with an empty value", insert(list[i].Pos(), v.Name()+" = "+typeName+"{}\n")))
				}
			}
			c.report(call, "each row is decoded into the same variable, which keeps the properties that a row lacks from the row before; declare the variable in the loop (azpatterns: Table.Query decodes each row into a new value)", fixes...)
		}
	}
}}
