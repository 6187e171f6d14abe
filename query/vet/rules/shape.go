package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// each returns the run of a rule, or of a part of one, that reports each call of the SDK outside tests with one of the names, in the
// package with the path or, if that is "", in any, for which is is true.
func each(path, names, message string, is func(c *check, call *source.Call) bool) func(*check) {
	return func(c *check) {
		for call := range c.CallsOf(path, strings.Fields(names)...) {
			if c.Decl(call) != nil && !c.isTest(call) && is(c, call) {
				c.report(call, message)
			}
		}
	}
}

// every returns the run of a rule that has several parts.
func every(parts ...func(*check)) func(*check) {
	return func(c *check) {
		for _, part := range parts {
			part(c)
		}
	}
}

// uses reports whether n, or a function of the package that it calls, contains a name with one of the words.
func (c *check) uses(n ast.Node, words ...string) bool {
	named := func(n ast.Node) bool {
		return source.Any(n, func(id *ast.Ident) bool {
			return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(id.Name, word) })
		})
	}
	return named(n) || source.Any(n, func(call *ast.CallExpr) bool {
		_, decl := c.DeclOf(call)
		return decl != nil && named(decl.Body)
	})
}

// another returns the first other call of the SDK in the function of call with one of the names, before or after it, or nil.
func (c *check) another(call *source.Call, after bool, names ...string) *source.Call {
	for other := range c.CallsOf("", names...) {
		if other != call && other.Pos() > call.Pos() == after && c.Decl(other) == c.Decl(call) {
			return other
		}
	}
	return nil
}

// failure returns the if statement after a call that tests its error for one, or nil.
func (c *check) failure(call *ast.CallExpr, err types.Object) *ast.IfStmt {
	stmt, ok := c.Parent(call).(ast.Stmt)
	if next := c.after(stmt); ok && err != nil && len(next) > 0 {
		s, _ := next[0].(*ast.IfStmt)
		if s != nil && slices.ContainsFunc(alternatives(s.Cond), func(cond ast.Expr) bool {
			b, ok := cond.(*ast.BinaryExpr)
			return ok && b.Op == token.NEQ && c.Object(b.X) == err && c.IsNil(b.Y)
		}) {
			return s
		}
	}
	return nil
}

// onlyLogs reports whether statements write a log, and then at most continue a loop.
func (c *check) onlyLogs(list []ast.Stmt) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(s ast.Stmt) bool {
		switch s := s.(type) {
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			return !ok || !c.Logs(call)
		case *ast.BranchStmt:
			return s.Tok != token.CONTINUE
		}
		return true
	})
}

// imports reports whether n contains the name of a package whose path has one of the words.
func (c *check) imports(n ast.Node, words ...string) bool {
	return source.Any(n, func(id *ast.Ident) bool {
		name, ok := c.pass.TypesInfo.Uses[id].(*types.PkgName)
		return ok && slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name.Imported().Path(), word) })
	})
}

// number returns the constant that an expression is, or that the package sets its field to.
func (c *check) number(e ast.Expr) (n int64, ok bool) {
	e = c.Resolve(e)
	if n, ok = c.ConstInt(e); ok {
		return n, true
	}
	x, name := source.Selected(e)
	for _, set := range c.Set {
		if x != nil && set.Name == name && structOf(c.TypeOf(set.Of)) == structOf(c.TypeOf(x)) {
			if n, ok = c.ConstInt(set.Value); !ok {
				return 0, false
			}
		}
	}
	return n, ok
}

// parts returns the parts of the texts of e. A part that a function of the package returns, or that is encoded, has the parts which it
// is made of.
func (c *check) parts(e ast.Expr, depth int) (all []source.Part) {
	for _, t := range c.Texts(e) {
		for _, part := range t.Parts {
			inner := c.madeOf(part.Hole)
			if depth > 3 || len(inner) == 0 {
				all = append(all, part)
			}
			for _, e := range inner[:min(len(inner), max(0, 8*(4-depth)))] {
				all = append(all, c.parts(e, depth+1)...)
			}
		}
	}
	return all
}

// madeOf returns what a call that is a hole is made of.
func (c *check) madeOf(hole ast.Expr) (of []ast.Expr) {
	i := 0
	if s, ok := c.Parent(c.Definition(c.Object(hole))).(*ast.AssignStmt); hole != nil && ok && len(s.Rhs) == 1 && len(s.Lhs) > 1 { // one of several results
		i = slices.IndexFunc(s.Lhs, func(left ast.Expr) bool { return c.Object(left) == c.Object(hole) })
		hole = s.Rhs[0]
	}
	call, ok := c.Follow(hole).(*ast.CallExpr)
	if hole == nil || !ok || i < 0 {
		return nil
	}
	if path, name := c.Callee(call); strings.HasPrefix(path, "encoding/") && strings.HasSuffix(name, "EncodeToString") || c.pass.TypesInfo.Types[call.Fun].IsType() {
		return call.Args
	}
	if _, decl := c.DeclOf(call); decl != nil && decl.Body != nil {
		for _, ret := range c.returns(decl.Body) {
			if i < len(ret.Results) {
				of = append(of, ret.Results[i])
			}
		}
	}
	return of
}

// returns returns the return statements with results of a function, without those of functions in it.
func (c *check) returns(body *ast.BlockStmt) (all []*ast.ReturnStmt) {
	for ret := range source.All[*ast.ReturnStmt](body) {
		if inner, _ := c.Body(ret); inner == body && len(ret.Results) > 0 {
			all = append(all, ret)
		}
	}
	return all
}

// replies returns the variables of a function that depend on what it reads.
func (c *check) replies(decl *ast.FuncDecl) map[types.Object]bool {
	var vars []types.Object
	for call := range source.All[*ast.CallExpr](decl.Body) {
		if f := c.FactOf(call); f.Reads || c.IsCall(call, "DequeueMessage", "GetProperties") {
			if s, ok := c.Parent(call).(*ast.AssignStmt); ok && c.Object(s.Lhs[0]) != nil {
				vars = append(vars, c.Object(s.Lhs[0]))
			}
		}
	}
	return c.Derived(decl.Body, vars...)
}

// attempt returns what is repeated around n until it succeeds: a loop with a number of rounds or without an end, which does not go through
// data and is left by the error, or a function that another one repeats.
func (c *check) attempt(n ast.Node) ast.Node {
	if loop := c.Loop(n); loop != nil && c.retries(loop) && (c.testsError(loop) || c.uses(loop, "ResponseError", "HasCode")) {
		return loop
	}
	lit := source.Around[*ast.FuncLit](c.Package, n)
	if call, ok := c.Parent(lit).(*ast.CallExpr); ok && repeating.MatchString(nameOfCall(call)) {
		return lit
	}
	return nil
}

var repeating = regexp.MustCompile(`(?i)retr[yi]|attempt|backoff`)

// retries reports whether a loop makes an attempt again: it has a number of rounds or no end, and does not go through data.
func (c *check) retries(loop ast.Stmt) bool {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		return source.IsBasic(c.TypeOf(l.X), types.IsInteger) && c.Const(l.X) != nil
	case *ast.ForStmt:
		b, ok := l.Cond.(*ast.BinaryExpr)
		_, constant := c.ConstInt(l.Cond)
		if ok {
			_, constant = c.ConstInt(b.Y)
		}
		return l.Cond == nil || constant
	}
	return false
}
