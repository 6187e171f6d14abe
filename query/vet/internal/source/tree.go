package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

// Parent returns the node that contains n. n may be a *Call.
func (p *Package) Parent(n ast.Node) ast.Node {
	if call, ok := n.(*Call); ok {
		n = call.CallExpr
	}
	return p.parents[n]
}

// Ancestors returns the nodes around n, from the inside to the outside.
func (p *Package) Ancestors(n ast.Node) func(yield func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		for n = p.Parent(n); n != nil; n = p.parents[n] {
			if !yield(n) {
				return
			}
		}
	}
}

// Body returns the body of the innermost function that contains n, and that function: an *ast.FuncDecl or
// *ast.FuncLit. The body is nil for a node outside functions.
func (p *Package) Body(n ast.Node) (*ast.BlockStmt, ast.Node) {
	for a := range p.Ancestors(n) {
		switch f := a.(type) {
		case *ast.FuncDecl:
			return f.Body, f
		case *ast.FuncLit:
			return f.Body, f
		}
	}
	return nil, nil
}

// Decl returns the declaration of the function that contains n, or nil.
func (p *Package) Decl(n ast.Node) *ast.FuncDecl {
	for a := range p.Ancestors(n) {
		if f, ok := a.(*ast.FuncDecl); ok {
			return f
		}
	}
	return nil
}

// Loop returns the innermost loop of the same function that contains n, or nil.
func (p *Package) Loop(n ast.Node) ast.Stmt {
	for a := range p.Ancestors(n) {
		switch a := a.(type) {
		case *ast.ForStmt:
			return a
		case *ast.RangeStmt:
			return a
		case *ast.FuncDecl, *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// Statement returns the innermost statement that contains n and is an element of a list of statements, with that list
// and its index.
func (p *Package) Statement(n ast.Node) (list []ast.Stmt, index int) {
	for ; n != nil; n = p.Parent(n) {
		s, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		for i, x := range statements(p.parents[n]) {
			if x == s {
				return statements(p.parents[n]), i
			}
		}
	}
	return nil, -1
}

func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// Results returns the variables that the results of a call are assigned to. An element is nil for _ and for anything
// but a variable. ok is false if the call is not the right side of an assignment.
func (p *Package) Results(call *ast.CallExpr) (vars []types.Object, stmt *ast.AssignStmt, ok bool) {
	n := p.parents[call]
	for {
		paren, isParen := n.(*ast.ParenExpr)
		if !isParen {
			break
		}
		n = p.parents[paren]
	}
	stmt, ok = n.(*ast.AssignStmt)
	if !ok || len(stmt.Rhs) != 1 {
		return nil, nil, false
	}
	for _, left := range stmt.Lhs {
		vars = append(vars, p.Object(left))
	}
	return vars, stmt, true
}

// Mentions reports whether n contains the variable.
func (p *Package) Mentions(n ast.Node, v types.Object) bool {
	return p.MentionsAny(n, map[types.Object]bool{v: true})
}

// MentionsAny reports whether n contains one of the variables.
func (p *Package) MentionsAny(n ast.Node, vars map[types.Object]bool) bool {
	return Any(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && vars[p.Pass.TypesInfo.ObjectOf(id)]
	})
}

// Inspect calls f for the nodes in n, in the order of the source. If f returns false, the children are skipped. A nil
// n has no nodes.
func Inspect(n ast.Node, f func(ast.Node) bool) {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool { return n != nil && f(n) })
}

// Any reports whether f is true for a node in n.
func Any(n ast.Node, f func(ast.Node) bool) bool {
	found := false
	Inspect(n, func(n ast.Node) bool {
		found = found || f(n)
		return !found
	})
	return found
}

// Derived returns the variables of body whose values depend on vars: those that are assigned from an expression with
// one of them, and those whose address is an argument of the same call.
func (p *Package) Derived(body ast.Node, vars ...types.Object) map[types.Object]bool {
	derived := map[types.Object]bool{}
	for _, v := range vars {
		if v != nil {
			derived[v] = true
		}
	}
	for range 4 { // enough for any chain that people write against the order of the source
		before := len(derived)
		Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				p.deriveAssign(n, derived)
			case *ast.RangeStmt:
				if p.MentionsAny(n.X, derived) {
					p.derive(derived, n.Key, n.Value)
				}
			case *ast.CallExpr:
				if p.MentionsAny(n, derived) {
					for _, arg := range n.Args {
						if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
							p.derive(derived, u.X)
						}
					}
				}
			}
			return true
		})
		if len(derived) == before {
			break
		}
	}
	return derived
}

func (p *Package) deriveAssign(n *ast.AssignStmt, derived map[types.Object]bool) {
	for i, right := range n.Rhs {
		if !p.MentionsAny(right, derived) {
			continue
		}
		if len(n.Lhs) == len(n.Rhs) {
			p.derive(derived, n.Lhs[i])
		} else {
			p.derive(derived, n.Lhs...)
		}
	}
}

func (p *Package) derive(derived map[types.Object]bool, left ...ast.Expr) {
	for _, e := range left {
		obj := p.Object(Root(e))
		if obj == nil || isError(obj.Type()) {
			continue
		}
		if _, isParam := p.parents[p.defs[obj]].(*ast.Field); isParam && p.Object(e) == nil {
			continue // a field of the receiver or of an argument does not make all of it depend on vars
		}
		derived[obj] = true
	}
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// Root returns x of x.f, x[i], *x and &x.
func Root(e ast.Expr) ast.Expr {
	for e != nil {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		default:
			return x
		}
	}
	return nil
}

// Literal returns the composite literal that e is, points to, or was set to by the only assignment of a variable.
func (p *Package) Literal(e ast.Expr) *ast.CompositeLit {
	for range 4 {
		if e == nil {
			return nil
		}
		switch x := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
			return x
		case *ast.UnaryExpr:
			e = x.X
		case *ast.Ident:
			e = p.Value(x)
		case *ast.CallExpr: // such as to.Ptr
			if len(x.Args) != 1 {
				return nil
			}
			e = x.Args[0]
		default:
			return nil
		}
	}
	return nil
}

// Value returns the expression that a local variable is set to, or nil if it is set in several places or from one of
// several results.
func (p *Package) Value(id *ast.Ident) ast.Expr {
	obj := p.Object(id)
	if obj == nil {
		return nil
	}
	body, _ := p.Body(p.defs[obj])
	var value ast.Expr
	times := 0
	Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if p.Object(left) != obj {
					continue
				}
				times++
				if len(n.Lhs) == len(n.Rhs) && (n.Tok == token.DEFINE || n.Tok == token.ASSIGN) {
					value = n.Rhs[i]
				} else if i == 0 && len(n.Rhs) == 1 {
					value = n.Rhs[0]
				} else {
					times++
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if p.Object(name) == obj && i < len(n.Values) {
					times++
					value = n.Values[i]
				}
			}
		case *ast.RangeStmt:
			if p.Object(n.Key) == obj || p.Object(n.Value) == obj {
				times += 2
			}
		}
		return true
	})
	if times != 1 {
		return nil
	}
	return value
}

// Field returns the value of a field in a composite literal, or nil.
func Field(lit *ast.CompositeLit, name string) ast.Expr {
	if lit == nil {
		return nil
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == name {
				return kv.Value
			}
		}
	}
	return nil
}

// Same reports whether two expressions name the same thing: a variable, or a field of one.
func (p *Package) Same(a, b ast.Expr) bool {
	if a == nil || b == nil {
		return false
	}
	switch x := ast.Unparen(a).(type) {
	case *ast.Ident:
		obj := p.Object(x)
		return obj != nil && obj == p.Object(b)
	case *ast.SelectorExpr:
		y, ok := ast.Unparen(b).(*ast.SelectorExpr)
		return ok && x.Sel.Name == y.Sel.Name && p.Same(x.X, y.X)
	}
	return types.ExprString(a) == types.ExprString(b)
}

// Logs reports whether a call writes a log or prints.
func (p *Package) Logs(call *ast.CallExpr) bool {
	path, name := p.Callee(call)
	if path == "log" || path == "log/slog" || path == "fmt" && strings.HasPrefix(name, "Print") || path == "fmt" && strings.HasPrefix(name, "Fprint") {
		return true
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	text := strings.ToLower(types.ExprString(sel.X))
	return strings.Contains(text, "log") || strings.HasSuffix(text, "klog")
}

// Terminates reports whether control does not go past the end of list.
func Terminates(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.BlockStmt:
		return Terminates(s.List)
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		switch fun := ast.Unparen(call.Fun).(type) {
		case *ast.Ident:
			return fun.Name == "panic"
		case *ast.SelectorExpr:
			return strings.HasPrefix(fun.Sel.Name, "Fatal") || strings.HasPrefix(fun.Sel.Name, "Panic") || fun.Sel.Name == "Exit" || fun.Sel.Name == "FailNow"
		}
	}
	return false
}
