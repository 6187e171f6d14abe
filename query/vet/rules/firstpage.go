package rules

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/azpatterns/azpatterns/query"
	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// firstPage reports queries of which only the first page is read.
var firstPage = &Rule{Name: "firstpage", Severity: Error, run: func(c *check) {
	for _, p := range c.nextPages() {
		created, ok := c.Follow(p.pager).(*ast.CallExpr)
		if ok && p.page != nil && c.onlyOnce(p, created) && !c.keeps(p) && !c.needsOnePage(created) {
			c.report(p.call, "only the first page is read, which can be short or empty although more rows match; read pages while More reports true (azpatterns: Table.Query)")
		}
	}
}}

// onlyOnce reports whether one call of NextPage in one round is all that happens to the pager.
func (c *check) onlyOnce(p nextPage, created *ast.CallExpr) bool {
	if p.pager == ast.Expr(created) {
		return true
	}
	outer := c.Loop(created)
	if f, ok := outer.(*ast.ForStmt); ok && f.Init != nil && source.Within(f.Init, created) {
		outer = c.Loop(f) // for pager := …; pager.More(); { … }
	}
	if body, _ := c.Body(created); body != p.body || outer != c.Loop(p.call) && !c.leavesAlways(c.Loop(p.call)) {
		return false
	}
	calls := 0
	other := source.Any(p.body, func(id *ast.Ident) bool {
		if c.pass.TypesInfo.Uses[id] != c.Object(p.pager) {
			return false
		}
		sel, ok := c.Parent(id).(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "NextPage" {
			calls++
		}
		return !ok
	})
	return !other && calls == 1
}

// leavesAlways reports whether a loop ends in its first round.
func (c *check) leavesAlways(loop ast.Stmt) bool {
	f, ok := loop.(*ast.ForStmt)
	if !ok || !source.Terminates(f.Body.List) {
		return false
	}
	return !source.Any(f.Body, func(b *ast.BranchStmt) bool {
		return b.Tok == token.CONTINUE && (b.Label != nil || c.leaves(b) == f) || b.Tok == token.GOTO
	})
}

// keeps reports whether the function hands on the page as a whole, or its continuation token.
func (c *check) keeps(p nextPage) bool {
	return source.Any(p.body, func(id *ast.Ident) bool {
		switch id.Name {
		case "NextPartitionKey", "NextRowKey", "NextTableName":
			return true
		}
		if c.pass.TypesInfo.Uses[id] != p.page {
			return false
		}
		sel, ok := c.Parent(id).(*ast.SelectorExpr)
		return !ok || sel.X != ast.Expr(id)
	})
}

// needsOnePage reports whether the query of a pager returns one row at most, or is a look at the first rows of a table.
func (c *check) needsOnePage(created *ast.CallExpr) bool {
	if len(created.Args) != 1 {
		return false
	}
	lit := c.Literal(created.Args[0])
	filter := c.Field(lit, "Filter")
	if filter == nil {
		return lit == nil && !c.IsNil(created.Args[0]) || c.Field(lit, "Top") != nil
	}
	for _, f := range c.Filters {
		if f.Expr == filter {
			return len(f.Values) > 0 && !slices.ContainsFunc(f.Values, func(v source.Value) bool {
				return v.Example == "" || v.Err != nil || query.Explain(v.Parsed).Plain != query.Point
			})
		}
	}
	fn, _ := c.Param(filter)
	return fn != nil // the callers decide
}
