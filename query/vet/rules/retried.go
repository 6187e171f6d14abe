package rules

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// retried reports refusals that are taken at face value although the request may have been sent more than once: the SDK
// repeats a request whose reply is lost, and the second attempt meets the effect of the first.
var retried = &Rule{Name: "retried", Severity: Error, Off: true, run: func(c *check) {
	if c.withoutRetries() {
		return
	}
	for call := range c.CallsOf(source.Tables, "AddEntity", "UpdateEntity", "DeleteEntity") {
		_, err, stmt := c.Results(call.CallExpr)
		if err == nil || c.isTest(call) {
			continue
		}
		r := refusals[call.Name]
		for _, t := range c.tests(stmt, err, r) {
			switch {
			case call.Name == "UpdateEntity" && c.changesAgain(call, t.cond):
				c.report(t.cond, "the SDK repeats a request whose reply is lost, so 412 can mean that this change was made already, and the loop then makes it twice; read the entity and compare before changing it again (azpatterns: Table.Update finds out)")
			case t.refused && c.refuses(t.body):
				c.report(t.cond, "the SDK repeats a request whose reply is lost, so this error can mean that the request itself succeeded; read the entity and compare before reporting a refusal (azpatterns: Table."+r.method+" finds out)")
			}
		}
	}
}}

// A refusal is what the service answers to an attempt whose change was made already.
type refusal struct {
	status int64
	code   string
	method string // of patterns.Table
}

var refusals = map[string]refusal{
	"AddEntity":    {409, "EntityAlreadyExists", "Insert"},
	"UpdateEntity": {412, "UpdateConditionNotSatisfied", "Update"},
	"DeleteEntity": {404, "ResourceNotFound", "Delete"},
}

// A test is the condition of an if statement, or an expression of a case, that tests an error for a refusal.
type test struct {
	cond    ast.Expr
	body    []ast.Stmt // what runs if the condition is true
	refused bool       // the condition is true for the refusal, not for other errors
}

// tests returns the tests of err for the refusal after stmt.
func (c *check) tests(stmt ast.Stmt, err types.Object, r refusal) (all []test) {
	scope := c.after(stmt)
	setsAgain := func(s ast.Stmt) bool {
		a, ok := s.(*ast.AssignStmt)
		return ok && c.Sets(a, err)
	}
	if end := slices.IndexFunc(scope, setsAgain); end >= 0 {
		scope = scope[:end]
	}
	body, _ := c.Body(stmt)
	for _, s := range scope {
		vars := c.Derived(s, err) // such as the target of errors.As
		for n := range source.All[ast.Node](s) {
			if inner, _ := c.Body(n); inner != body {
				continue
			}
			switch n := n.(type) {
			case *ast.IfStmt:
				if (c.MentionsAny(n.Cond, vars) || c.MentionsAny(n.Init, vars)) && c.namesRefusal(n.Cond, r) {
					all = append(all, test{n.Cond, n.Body.List, !c.negated(n.Cond)})
				}
			case *ast.CaseClause:
				s, ok := c.Parent(c.Parent(n)).(*ast.SwitchStmt)
				i := slices.IndexFunc(n.List, func(e ast.Expr) bool { return c.namesRefusal(e, r) })
				if ok && i >= 0 && c.MentionsAny(s.Tag, vars) {
					all = append(all, test{n.List[i], n.Body, true})
				}
			}
		}
	}
	return all
}

// namesRefusal reports whether a condition, or a function of the package that it calls, contains the status or the code of a refusal.
func (c *check) namesRefusal(e ast.Node, r refusal) bool {
	_, isCondition := e.(ast.Expr)
	return source.Any(e, func(e ast.Expr) bool {
		if call, isCall := e.(*ast.CallExpr); isCall && isCondition && len(call.Args) == 1 { // such as isConflict(err)
			_, decl := c.DeclOf(call)
			return decl != nil && decl.Body != nil && c.namesRefusal(decl.Body, r)
		}
		status, isStatus := c.ConstInt(e)
		code, isCode := c.ConstText(e)
		return isStatus && status == r.status || isCode && code == r.code
	})
}

// negated reports whether a condition is true for other errors: !is(err, 412) or status != 412.
func (c *check) negated(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return c.negated(e.X) || c.negated(e.Y)
		}
		return e.Op == token.NEQ && !c.IsNil(e.Y)
	}
	return false
}

// refuses reports whether statements return an error or false, without reading the entity.
func (c *check) refuses(body []ast.Stmt) bool {
	refuses := false
	for _, s := range body {
		if source.Any(s, c.readsEntity) {
			return false
		}
		if ret, ok := s.(*ast.ReturnStmt); ok && len(ret.Results) > 0 {
			first, last := c.Const(ret.Results[0]), ret.Results[len(ret.Results)-1]
			isFalse := first != nil && first.Kind() == constant.Bool && !constant.BoolVal(first)
			refuses = isFalse || !c.IsNil(last) && types.Implements(c.TypeOf(last), errorType)
		}
	}
	return refuses
}

// readsEntity reports whether call is one of GetEntity, or of a function of the package that contains one.
func (c *check) readsEntity(call *ast.CallExpr) bool {
	if _, name := c.Callee(call); name == "Client.GetEntity" {
		return true
	}
	_, decl := c.DeclOf(call)
	return decl != nil && source.Any(decl.Body, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "GetEntity" })
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// changesAgain reports whether the call and its test are in a loop that reads the entity and changes it by a step, such as
// e.N--, e.N += n, or m["N"] = number(m["N"]) + n.
func (c *check) changesAgain(call *source.Call, test ast.Node) bool {
	loop := c.Loop(call)
	reply := c.reads(call, func(get *source.Call, _ types.Object) bool { return c.Loop(get) == loop })
	if loop == nil || c.Loop(test) != loop || reply == nil {
		return false
	}
	entity := c.Derived(loop, reply)
	isPart := func(e ast.Expr) bool { return source.Root(e) != e && c.MentionsAny(e, entity) }
	return source.Any(loop, func(s *ast.IncDecStmt) bool { return isPart(s.X) }) ||
		source.Any(loop, func(s *ast.AssignStmt) bool {
			return isPart(s.Lhs[0]) && s.Tok != token.DEFINE && (s.Tok != token.ASSIGN || source.Any(s.Rhs[0], func(e ast.Expr) bool {
				followed := c.Follow(e)
				sum, ok := followed.(*ast.BinaryExpr)
				steps := ok && (sum.Op == token.ADD || sum.Op == token.SUB)
				return steps && (strings.Contains(types.ExprString(sum), types.ExprString(s.Lhs[0])) || followed != e && c.MentionsAny(sum, entity))
			}))
		})
}

// withoutRetries reports whether the package turns the retries of the SDK off.
func (c *check) withoutRetries() bool {
	return slices.ContainsFunc(c.Set, func(set source.Setting) bool {
		n, ok := c.ConstInt(set.Value)
		return set.Name == "MaxRetries" && ok && n < 0
	})
}
