package rules

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// emptyPage reports loops over pages that stop at a page without rows.
var emptyPage = &Rule{Name: "emptypage", Severity: Error, Fixes: true, run: func(c *check) {
	for _, p := range c.nextPages() {
		loop := c.Loop(p.call)
		if loop == nil {
			continue
		}
		for s := range source.All[*ast.IfStmt](loop) {
			if body, _ := c.Body(s); body != p.body || len(s.Body.List) == 0 || !c.isEmptyTest(p, s.Cond) {
				continue
			}
			const message = "a page without rows is not the last page: the service returns such pages, with a continuation token, when it has scanned for 5 seconds or reached the end of a partition; continue while More reports true (azpatterns: Table.Query)"
			switch last := s.Body.List[len(s.Body.List)-1].(type) {
			case *ast.BranchStmt:
				if last.Tok == token.BREAK && c.leaves(last) == loop {
					var fixes []analysis.SuggestedFix
					if c.asksMore(loop, p.pager) && len(alternatives(s.Cond)) == 1 {
						fixes = append(fixes, replace("continue with the next page", last.Pos(), last.End(), "continue"))
					}
					c.report(s.Cond, message, fixes...)
				}
			case *ast.ReturnStmt:
				c.report(s.Cond, message)
			}
		}
	}
}}

// isEmptyTest reports whether cond is true if len(page.Entities) == 0.
func (c *check) isEmptyTest(p nextPage, cond ast.Expr) bool {
	return slices.ContainsFunc(alternatives(cond), func(e ast.Expr) bool {
		b, ok := e.(*ast.BinaryExpr)
		if !ok {
			return false
		}
		x := c.lenOf(b.X)
		limit, ok := c.ConstInt(b.Y)
		return x != nil && ok && c.rows(p, x) && (b.Op == token.EQL && limit == 0 || b.Op == token.LSS && limit == 1)
	})
}
