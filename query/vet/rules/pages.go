package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

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

// nextPages returns the calls of NextPage.
func (c *check) nextPages() []nextPage {
	if !c.Uses {
		return nil
	}
	var all []nextPage
	for _, file := range c.pass.Files {
		source.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "NextPage" || !strings.Contains(c.TypeOf(call).String(), source.Tables+".List") {
				return true
			}
			p := nextPage{call: call, pager: sel.X}
			p.body, p.fn = c.Body(call)
			if vars, stmt, ok := c.Results(call); ok && len(vars) == 2 {
				p.page, p.err, p.stmt = vars[0], vars[1], stmt
			}
			if p.body != nil {
				all = append(all, p)
			}
			return true
		})
	}
	return all
}

// rows reports whether e is the entities of the page.
func (c *check) rows(p nextPage, e ast.Expr) bool {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		e = c.Value(id)
	}
	if e == nil {
		return false
	}
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Entities" || sel.Sel.Name == "Tables") && p.page != nil && c.Object(sel.X) == p.page
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
	if !ok || f.Cond == nil {
		return false
	}
	call, ok := ast.Unparen(f.Cond).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "More" && c.Same(sel.X, pager)
}
