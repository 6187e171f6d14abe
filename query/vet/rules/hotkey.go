package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// hotKey reports partition keys that begin with the current time or a counter: all writes of a moment go to one partition
// server.
var hotKey = &Rule{Name: "hotkey", Severity: Warning, run: func(c *check) {
	c.keys(func(k keyValue) {
		if !k.partition || !k.written {
			return
		}
		for _, t := range c.Texts(k.expr) {
			if len(t.Parts) == 0 || t.Parts[0].Hole == nil || !t.Parts[0].Hole.Pos().IsValid() {
				continue
			}
			first := t.Parts[0].Hole
			switch {
			case c.isNow(first, 0):
				c.report(first, "a partition key that begins with the current time sends all writes of a moment to one partition server; begin with a value that spreads them, such as a hash or the name of the source (azpatterns: keys.NewSpread)")
			case c.isCounter(first):
				c.report(first, "a partition key that begins with a counter sends all new rows to one partition server; begin with a value that spreads them, such as a hash (azpatterns: keys.NewSpread)")
			}
		}
	})
}}

// isNow reports whether the text or number e is the current time.
func (c *check) isNow(e ast.Expr, depth int) bool {
	if e == nil || depth > 6 {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.isNow(c.Value(e), depth+1)
	case *ast.CallExpr:
		path, name := c.Callee(e)
		switch {
		case path == "time" && name == "Now":
			return true
		case path == "time" && strings.HasPrefix(name, "Time."):
			sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
			return ok && c.isNow(sel.X, depth+1)
		case path == "strconv" && strings.HasPrefix(name, "Format"), path == "strconv" && name == "Itoa", path == "fmt" && name == "Sprint":
			return len(e.Args) > 0 && c.isNow(e.Args[0], depth+1)
		case c.pass.TypesInfo.Types[e.Fun].IsType() && len(e.Args) == 1:
			return c.isNow(e.Args[0], depth+1)
		}
	}
	return false
}

// isCounter reports whether e is the text of a number that the program counts up: the result of atomic.Add, or a field or
// global variable with ++.
func (c *check) isCounter(e ast.Expr) bool {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		if path, _ := c.Callee(call); path == "strconv" && len(call.Args) > 0 {
			e = ast.Unparen(call.Args[0])
		}
	}
	if id, ok := e.(*ast.Ident); ok {
		if value := c.Value(id); value != nil {
			e = ast.Unparen(value)
		}
	}
	if call, ok := e.(*ast.CallExpr); ok {
		path, name := c.Callee(call)
		return path == "sync/atomic" && strings.Contains(name, "Add")
	}
	basic, ok := c.TypeOf(e).Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 {
		return false
	}
	if v, ok := c.Object(e).(*types.Var); ok && v.Parent() != c.pass.Pkg.Scope() {
		return false
	}
	for _, file := range c.pass.Files {
		if source.Any(file, func(n ast.Node) bool {
			inc, ok := n.(*ast.IncDecStmt)
			return ok && inc.Tok == token.INC && c.Same(inc.X, e)
		}) {
			return true
		}
	}
	return false
}
