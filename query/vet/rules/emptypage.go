package rules

import (
	"go/ast"
	"go/token"

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
		source.Inspect(loop, func(n ast.Node) bool {
			if _, isFunc := n.(*ast.FuncLit); isFunc {
				return false
			}
			s, ok := n.(*ast.IfStmt)
			if !ok || len(s.Body.List) == 0 || !c.isEmptyTest(p, s.Cond) {
				return true
			}
			const message = "a page without rows is not the last page: the service returns such pages, with a continuation token, when it has scanned for 5 seconds or reached the end of a partition"
			switch last := s.Body.List[len(s.Body.List)-1].(type) {
			case *ast.BranchStmt:
				if last.Tok == token.BREAK && c.leaves(last) == loop {
					var fixes []analysis.SuggestedFix
					if c.asksMore(loop, p.pager) {
						fixes = append(fixes, replace("continue with the next page", last.Pos(), last.End(), "continue"))
					}
					c.report(s.Cond, message, fixes...)
				}
			case *ast.ReturnStmt:
				c.report(s.Cond, message)
			}
			return true
		})
	}
}}

// isEmptyTest reports whether cond is len(page.Entities) == 0.
func (c *check) isEmptyTest(p nextPage, cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL && b.Op != token.LSS {
		return false
	}
	x := lenOf(b.X)
	if x == nil || c.Const(b.Y) == nil || !c.rows(p, x) {
		return false
	}
	limit := c.Const(b.Y).ExactString()
	return b.Op == token.EQL && limit == "0" || b.Op == token.LSS && limit == "1"
}
