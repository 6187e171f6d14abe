package rules

import (
	"go/ast"
	"go/token"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// checked reports whether the function that contains e has compared it with constants or matched it with a regular expression
// before, and does not reach e if that fails. What the expression matches is not examined.
func (c *check) checked(e ast.Expr) bool {
	if c.Object(e) == nil {
		return false
	}
	decl := c.Decl(e)
	return decl != nil && (source.Any(decl.Body, func(s *ast.IfStmt) bool {
		if source.Within(s.Body, e) {
			return c.restricts(s.Cond, e, true)
		}
		return s.End() < e.Pos() && source.Terminates(s.Body.List) && c.restricts(s.Cond, e, false) && c.inBlockOf(s, e)
	}) || source.Any(decl.Body, func(s *ast.SwitchStmt) bool {
		if s.Tag == nil || !c.Same(s.Tag, e) {
			return false
		}
		refuses := false
		for _, clause := range s.Body.List {
			clause := clause.(*ast.CaseClause)
			switch {
			case clause.List == nil:
				refuses = source.Terminates(clause.Body)
			case !c.allConst(clause.List):
				return false
			case source.Within(clause, e):
				return true
			}
		}
		return refuses && s.End() < e.Pos() && c.inBlockOf(s, e)
	}))
}

// inBlockOf reports whether the block that contains the statement also contains e, so that e is reached only through it.
func (c *check) inBlockOf(s ast.Stmt, e ast.Expr) bool {
	return source.Any(c.Decl(e).Body, func(block *ast.BlockStmt) bool {
		for _, one := range block.List {
			if one == s {
				return source.Within(block, e)
			}
		}
		return false
	})
}

func (c *check) allConst(list []ast.Expr) bool {
	for _, e := range list {
		if _, ok := c.ConstText(e); !ok {
			return false
		}
	}
	return true
}

// restricts reports whether e has a checked value if cond has the result.
func (c *check) restricts(cond, e ast.Expr, result bool) bool {
	switch cond := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return cond.Op == token.NOT && c.restricts(cond.X, e, !result)
	case *ast.BinaryExpr:
		x, y := cond.X, cond.Y
		switch {
		case cond.Op == token.LAND && result, cond.Op == token.LOR && !result:
			return c.restricts(x, e, result) || c.restricts(y, e, result)
		case cond.Op == token.LAND, cond.Op == token.LOR:
			return c.restricts(x, e, result) && c.restricts(y, e, result)
		case cond.Op == token.EQL && result, cond.Op == token.NEQ && !result:
			return c.Same(x, e) && c.allConst([]ast.Expr{y}) || c.Same(y, e) && c.allConst([]ast.Expr{x})
		}
	case *ast.CallExpr:
		path, name := c.Callee(cond)
		return result && path == "regexp" && name == "Regexp.MatchString" && len(cond.Args) == 1 && c.Same(cond.Args[0], e)
	}
	return false
}
