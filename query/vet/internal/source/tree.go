package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"reflect"
	"slices"
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
func (p *Package) Ancestors(n ast.Node) iter.Seq[ast.Node] {
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

// Around returns the innermost node of type N that contains n, or nil.
func Around[N ast.Node](p *Package, n ast.Node) (around N) {
	for a := range p.Ancestors(n) {
		if a, ok := a.(N); ok {
			return a
		}
	}
	return around
}

// Decl returns the declaration of the function that contains n, or nil.
func (p *Package) Decl(n ast.Node) *ast.FuncDecl { return Around[*ast.FuncDecl](p, n) }

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
		if s, ok := n.(ast.Stmt); ok {
			list = statements(p.parents[n])
			if i := slices.Index(list, s); i >= 0 {
				return list, i
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

// Results returns the statement that assigns the two results of a call, and the variables that it sets: nil for _ and for
// anything but a variable. stmt is nil if there is no such statement.
func (p *Package) Results(call *ast.CallExpr) (reply, err types.Object, stmt *ast.AssignStmt) {
	stmt, ok := p.parents[call].(*ast.AssignStmt)
	if !ok || len(stmt.Rhs) != 1 || len(stmt.Lhs) != 2 {
		return nil, nil, nil
	}
	return p.Object(stmt.Lhs[0]), p.Object(stmt.Lhs[1]), stmt
}

// Mentions reports whether n contains the variable.
func (p *Package) Mentions(n ast.Node, v types.Object) bool {
	return p.MentionsAny(n, map[types.Object]bool{v: true})
}

// MentionsAny reports whether n contains one of the variables.
func (p *Package) MentionsAny(n ast.Node, vars map[types.Object]bool) bool {
	return Any(n, func(id *ast.Ident) bool { return vars[p.Pass.TypesInfo.ObjectOf(id)] })
}

// All returns the nodes of type N in n, which may be nil, in the order of the source.
func All[N ast.Node](n ast.Node) iter.Seq[N] {
	return func(yield func(N) bool) {
		if n == nil || reflect.ValueOf(n).IsNil() {
			return
		}
		for n := range ast.Preorder(n) {
			if n, ok := n.(N); ok && !yield(n) {
				return
			}
		}
	}
}

// Any reports whether f is true for a node of type N in n, which may be nil.
func Any[N ast.Node](n ast.Node, f func(N) bool) bool {
	for n := range All[N](n) {
		if f(n) {
			return true
		}
	}
	return false
}

// AnyIn reports whether f is true for a node of type N in the package.
func AnyIn[N ast.Node](p *Package, f func(N) bool) bool {
	return slices.ContainsFunc(p.Files, func(file *ast.File) bool { return Any(file, f) })
}

// Derived returns the variables of body whose values depend on vars: those that are assigned from an expression with
// one of them, and those whose address is an argument of the same call.
func (p *Package) Derived(body ast.Node, vars ...types.Object) map[types.Object]bool {
	derived := map[types.Object]bool{}
	for _, v := range vars {
		derived[v] = true
	}
	for before := 0; before < len(derived); { // a variable can be used before the statement that makes it depend on vars
		before = len(derived)
		for n := range All[ast.Node](body) {
			switch n := n.(type) {
			case *ast.AssignStmt:
				p.deriveAssign(n, derived)
			case *ast.ValueSpec:
				for i, value := range n.Values {
					if p.MentionsAny(value, derived) && i < len(n.Names) {
						p.derive(derived, n.Names[i])
					}
				}
			case *ast.RangeStmt:
				if p.MentionsAny(n.X, derived) {
					p.derive(derived, n.Key, n.Value)
				}
			case *ast.CallExpr:
				if p.MentionsAny(n, derived) {
					p.derive(derived, addressed(n)...)
				}
			}
		}
	}
	return derived
}

// addressed returns x for each argument &x of a call.
func addressed(call *ast.CallExpr) (targets []ast.Expr) {
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			targets = append(targets, u.X)
		}
	}
	return targets
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
		if obj == nil || IsError(obj.Type()) {
			continue
		}
		if _, isParam := p.parents[p.defs[obj]].(*ast.Field); isParam && p.Object(e) == nil {
			continue // a field of the receiver or of an argument does not make all of it depend on vars
		}
		derived[obj] = true
	}
}

// IsError reports whether t is the type error.
func IsError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// Root returns x of x.f, x[i], *x and &x.
func Root(e ast.Expr) ast.Expr {
	for {
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
}

// Selected returns x and "f" of the expression x.f, and nil for any other expression.
func Selected(e ast.Expr) (x ast.Expr, name string) {
	if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
		return ast.Unparen(sel.X), sel.Sel.Name
	}
	return nil, ""
}

// Literal returns the composite literal that e is, points to, or was set to by the only assignment of a variable, or that a function of
// the package returns.
func (p *Package) Literal(e ast.Expr) *ast.CompositeLit {
	for range 3 {
		call, ok := p.Follow(e).(*ast.CallExpr)
		if !ok {
			break
		}
		_, decl := p.DeclOf(call)
		returned := p.onlyResult(decl)
		if returned == nil {
			break
		}
		e = returned
	}
	lit, _ := p.Resolve(e).(*ast.CompositeLit)
	return lit
}

// onlyResult returns what a function, which may be nil, always returns, if that is one value and the function sets no fields.
func (p *Package) onlyResult(decl *ast.FuncDecl) (result ast.Expr) {
	if decl == nil || Any(decl, func(s *ast.AssignStmt) bool { return p.Object(s.Lhs[0]) == nil }) {
		return nil
	}
	for ret := range All[*ast.ReturnStmt](decl) {
		if result != nil || len(ret.Results) != 1 {
			return nil
		}
		result = ret.Results[0]
	}
	return result
}

// Resolve returns the expression that e is made of by taking the address, by a call with one argument such as to.Ptr, and by
// variables that are set once.
func (p *Package) Resolve(e ast.Expr) ast.Expr {
	for range 4 {
		e = p.Follow(e)
		if p.Const(e) != nil {
			return e
		}
		switch x := e.(type) {
		case *ast.UnaryExpr:
			e = x.X
		case *ast.CallExpr:
			if len(x.Args) != 1 {
				return e
			}
			e = x.Args[0]
		}
	}
	return e
}

// Follow returns the expression that a local variable is set to, if it is set once and not to a result of a call other than
// the first. It returns any other expression unchanged.
func (p *Package) Follow(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	obj := p.Object(e)
	if values := p.values[obj]; len(values) == 1 && values[0] != nil && obj.Parent() != p.Pass.Pkg.Scope() {
		return ast.Unparen(values[0])
	}
	return e
}

// assignedValue returns the value that an assignment sets its left side with the index i to, or the call whose first result
// that is, or nil.
func assignedValue(s *ast.AssignStmt, i int) ast.Expr {
	if s.Tok != token.DEFINE && s.Tok != token.ASSIGN || i >= len(s.Rhs) || len(s.Rhs) != len(s.Lhs) && len(s.Rhs) != 1 {
		return nil
	}
	return s.Rhs[i]
}

// Field returns the value of a field in the literal of a struct, or that of a constant key in the literal of a map, or nil.
func (p *Package) Field(lit *ast.CompositeLit, name string) ast.Expr {
	if lit == nil {
		return nil
	}
	for _, set := range p.Settings(lit) {
		if set.Name == name {
			return set.Value
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
		y, name := Selected(b)
		return x.Sel.Name == name && p.Same(x.X, y)
	}
	return types.ExprString(a) == types.ExprString(b)
}

// Logs reports whether a call writes a log or prints.
func (p *Package) Logs(call *ast.CallExpr) bool {
	path, name := p.Callee(call)
	switch path {
	case "log", "log/slog":
		return true
	case "fmt":
		return strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Fprint")
	}
	recv, _ := Selected(call.Fun)
	return recv != nil && strings.Contains(strings.ToLower(types.ExprString(recv)), "log")
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
		_, name := Selected(call.Fun)
		fun, isIdent := ast.Unparen(call.Fun).(*ast.Ident)
		return isIdent && fun.Name == "panic" || name == "Exit" || name == "FailNow" || strings.HasPrefix(name, "Fatal") || strings.HasPrefix(name, "Panic")
	}
	return false
}

// Within reports whether inner is a part of outer.
func Within(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}
