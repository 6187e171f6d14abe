package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// hotKey reports partition keys that begin with the current time or a counter: all writes of a moment go to one partition
// server.
var hotKey = &Rule{Name: "hotkey", Severity: Warning, run: func(c *check) {
	for _, k := range c.keys() {
		if !k.partition || !k.written {
			continue
		}
		for _, t := range c.Texts(k.expr) {
			i := slices.IndexFunc(t.Parts, func(p source.Part) bool { return p.Hole != nil }) // a constant before it spreads nothing
			if i < 0 {
				continue
			}
			first := t.Parts[i].Hole
			_, name, _ := c.clock(first)
			switch {
			case name == "Now":
				c.report(first, "a partition key that begins with the current time sends all writes of a moment to one partition server; begin with a value that spreads them, such as a hash or the name of the source (azpatterns: keys.NewSpread)")
			case c.isCounter(first):
				c.report(first, "a partition key that begins with a counter sends all new rows to one partition server; begin with a value that spreads them, such as a hash (azpatterns: keys.NewSpread)")
			}
		}
	}
}}

// isCounter reports whether e is the text of a number that the program counts up: the result of atomic.Add, or a field or
// global variable with ++.
func (c *check) isCounter(e ast.Expr) bool {
	e = c.Follow(e)
	if call, ok := e.(*ast.CallExpr); ok {
		path, name := c.Callee(call)
		return path == "sync/atomic" && strings.Contains(name, "Add")
	}
	if v, ok := c.Object(e).(*types.Var); ok && v.Parent() != c.pass.Pkg.Scope() {
		return false
	}
	return source.IsBasic(c.TypeOf(e), types.IsInteger) &&
		source.AnyIn(c.Package, func(s *ast.IncDecStmt) bool { return s.Tok == token.INC && c.Same(s.X, e) })
}
