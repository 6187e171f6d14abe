package rules

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// retried reports refusals that are taken at face value although the request may have been sent more than once: the SDK
// repeats a request whose reply is lost, and the second attempt meets the effect of the first.
var retried = &Rule{Name: "retried", Severity: Error, run: func(c *check) {
	if c.withoutRetries() {
		return
	}
	for _, call := range c.Calls {
		var status refusal
		switch {
		case call.Is(source.Tables, "AddEntity"):
			status = conflict
		case call.Is(source.Tables, "UpdateEntity"):
			status = changed
		case call.Is(source.Tables, "DeleteEntity"):
			status = missing
		default:
			continue
		}
		vars, stmt, ok := c.Results(call.CallExpr)
		if !ok || len(vars) != 2 || vars[1] == nil {
			continue
		}
		c.tests(stmt, vars[1], status, func(test ast.Node, body []ast.Stmt, refused bool) {
			switch {
			case status == changed && c.changesAgain(call, test):
				c.report(test, "the SDK repeats a request whose reply is lost, so 412 can mean that this change was made already; the loop then makes it twice (azpatterns: Table.Update finds out)")
			case refused && c.refuses(body):
				c.report(test, "the SDK repeats a request whose reply is lost, so this error can mean that the request itself succeeded; read the entity and compare before reporting a refusal (azpatterns: Table."+status.method+" finds out)")
			}
		})
	}
}}

// A refusal is what the service answers to an attempt whose change was made already.
type refusal struct {
	status int64
	code   string
	method string // of patterns.Table
}

var (
	conflict = refusal{409, "EntityAlreadyExists", "Insert"}
	changed  = refusal{412, "UpdateConditionNotSatisfied", "Update"}
	missing  = refusal{404, "ResourceNotFound", "Delete"}
)

// tests calls f for each if statement and case after stmt that tests err for the refusal, with the statements that run then.
// refused is false if they run when it is another error.
func (c *check) tests(stmt ast.Stmt, err types.Object, r refusal, f func(test ast.Node, body []ast.Stmt, refused bool)) {
	scope := []ast.Stmt{}
	if s, ok := c.Parent(stmt).(*ast.IfStmt); ok {
		scope = append(scope, s)
	} else if list, i := c.Statement(stmt); i >= 0 {
		for _, next := range list[i+1:] {
			if c.setsAgain(next, err) {
				break
			}
			scope = append(scope, next)
		}
	}
	for _, s := range scope {
		vars := c.asTargets(s, err)
		source.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.IfStmt:
				if (c.MentionsAny(n.Cond, vars) || n.Init != nil && c.MentionsAny(n.Init, vars)) && c.names(n.Cond, r) {
					not := negated(n.Cond)
					f(n.Cond, n.Body.List, !not)
				}
			case *ast.SwitchStmt:
				if n.Tag == nil || !c.MentionsAny(n.Tag, vars) {
					return true
				}
				for _, s := range n.Body.List {
					clause, ok := s.(*ast.CaseClause)
					for i := 0; ok && i < len(clause.List); i++ {
						if c.names(clause.List[i], r) {
							f(clause.List[i], clause.Body, true)
						}
					}
				}
			}
			return true
		})
	}
}

// setsAgain reports whether the statement itself sets err to the result of another call.
func (c *check) setsAgain(s ast.Stmt, err types.Object) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, left := range a.Lhs {
		if c.Object(left) == err {
			return true
		}
	}
	return false
}

// asTargets returns err and the variables that errors.As sets from it.
func (c *check) asTargets(s ast.Node, err types.Object) map[types.Object]bool {
	vars := map[types.Object]bool{err: true}
	source.Inspect(s, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		if path, name := c.Callee(call); path == "errors" && name == "As" && c.Object(call.Args[0]) == err {
			if obj := c.Object(source.Root(call.Args[1])); obj != nil {
				vars[obj] = true
			}
		}
		return true
	})
	return vars
}

// names reports whether a condition, or a function of the package that it calls, contains the status or the code of a refusal.
func (c *check) names(e ast.Node, r refusal) bool {
	_, isCondition := e.(ast.Expr)
	return source.Any(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok {
			return false
		}
		if call, isCall := n.(*ast.CallExpr); isCall && isCondition && len(call.Args) == 1 { // such as isConflict(err)
			_, decl := c.DeclOf(call)
			return decl != nil && decl.Body != nil && c.names(decl.Body, r)
		}
		v := c.Const(x)
		switch {
		case v == nil:
			return false
		case v.Kind() == constant.Int:
			status, _ := constant.Int64Val(v)
			return status == r.status
		}
		return v.Kind() == constant.String && constant.StringVal(v) == r.code
	})
}

// negated reports whether a condition is true for other errors: !is(err, 412) or status != 412.
func negated(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return negated(e.X) || negated(e.Y)
		}
		return e.Op == token.NEQ && !isNil(e.Y)
	}
	return false
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// refuses reports whether statements return an error or another answer, without reading the entity.
func (c *check) refuses(body []ast.Stmt) bool {
	refuses := false
	for _, s := range body {
		reads := source.Any(s, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return false
			}
			_, decl := c.DeclOf(call)
			_, name := c.Callee(call)
			return name == "Client.GetEntity" || decl != nil && source.Any(decl.Body, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				return ok && sel.Sel.Name == "GetEntity"
			})
		})
		if reads {
			return false
		}
		if ret, ok := s.(*ast.ReturnStmt); ok && len(ret.Results) > 0 {
			last := ret.Results[len(ret.Results)-1]
			value := c.Const(ret.Results[0])
			refuses = !c.IsNil(last) && isErrorType(c.TypeOf(last)) || value != nil && value.Kind() == constant.Bool && !constant.BoolVal(value)
		}
	}
	return refuses
}

func isErrorType(t types.Type) bool {
	iface, _ := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return types.Implements(t, iface)
}

// changesAgain reports whether the call and its test are in a loop that reads the entity and changes it by a step, such as
// a decrement, or by a function.
func (c *check) changesAgain(call *source.Call, test ast.Node) bool {
	loop := c.Loop(call)
	if loop == nil || c.Loop(test) != loop || c.reads(call.Recv, call, func(get *source.Call, _ types.Object) bool { return c.Loop(get) == loop }) == nil {
		return false
	}
	return source.Any(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			_, isField := ast.Unparen(n.X).(*ast.SelectorExpr)
			return isField
		case *ast.AssignStmt:
			_, isField := ast.Unparen(n.Lhs[0]).(*ast.SelectorExpr)
			return isField && n.Tok != token.ASSIGN && n.Tok != token.DEFINE
		}
		return false
	})
}

// withoutRetries reports whether the package turns the retries of the SDK off.
func (c *check) withoutRetries() bool {
	off := false
	c.literals(func(lit *ast.CompositeLit) {
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				id, isIdent := kv.Key.(*ast.Ident)
				v := c.Const(kv.Value)
				off = off || isIdent && id.Name == "MaxRetries" && v != nil && constant.Sign(v) < 0
			}
		}
	})
	return off
}
