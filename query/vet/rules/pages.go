package rules

import (
	"go/ast"
	"go/token"
	"go/types"
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

// A nextPage is a call of NextPage on a pager of aztables.
type nextPage struct {
	call  *ast.CallExpr
	pager ast.Expr
	page  types.Object // the variables that it sets, or nil
	err   types.Object
	stmt  *ast.AssignStmt // nil if the results are not assigned
	body  *ast.BlockStmt  // of the function
	fn    ast.Node
}

// nextPages returns the calls of NextPage in functions.
func (c *check) nextPages() (all []nextPage) {
	for call := range c.CallsOf("", "NextPage") {
		body, fn := c.Body(call)
		if body == nil {
			continue
		}
		p := nextPage{call: call.CallExpr, pager: call.Recv, body: body, fn: fn}
		p.page, p.err, p.stmt = c.Results(p.call)
		all = append(all, p)
	}
	return all
}

// rows reports whether e is the entities of the page.
func (c *check) rows(p nextPage, e ast.Expr) bool {
	page, name := source.Selected(c.Follow(e))
	return slices.Contains([]string{"Entities", "Tables", "BlobItems", "ContainerItems", "QueueItems"}, name) && p.page != nil && c.Object(source.Root(page)) == p.page
}

// alternatives returns the conditions of which one is enough for cond: a and b of a || b.
func alternatives(cond ast.Expr) []ast.Expr {
	cond = ast.Unparen(cond)
	if b, ok := cond.(*ast.BinaryExpr); ok && b.Op == token.LOR {
		return append(alternatives(b.X), alternatives(b.Y)...)
	}
	return []ast.Expr{cond}
}

// leaves returns what a branch statement leaves: the innermost loop, switch or select of the same function.
func (c *check) leaves(b *ast.BranchStmt) ast.Node {
	if b.Label != nil {
		return nil
	}
	for n := range c.Ancestors(b) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return n
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if b.Tok == token.BREAK {
				return n
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// asksMore reports whether a loop runs while the pager has more pages.
func (c *check) asksMore(loop ast.Stmt, pager ast.Expr) bool {
	f, ok := loop.(*ast.ForStmt)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(f.Cond).(*ast.CallExpr)
	if !ok {
		return false
	}
	asked, name := source.Selected(call.Fun)
	return name == "More" && c.Same(asked, pager)
}
