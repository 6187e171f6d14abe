package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A flow follows the texts of one string variable or builder through the statements of a function, up to a use.
type flow struct {
	ev      *evaluator
	v       types.Object
	use     ast.Node
	changes int
}

// list returns the texts after the statements, or those at the use, if the use is in one of them.
func (f *flow) list(stmts []ast.Stmt, in []Text) (out []Text, reached bool) {
	for _, s := range stmts {
		if in, reached = f.stmt(s, in); reached {
			return in, true
		}
		in = bounded(in)
	}
	return in, false
}

func (f *flow) stmt(s ast.Stmt, in []Text) ([]Text, bool) {
	if s == nil {
		return in, false
	}
	f.ev.steps++
	if f.ev.steps > maxSteps {
		return hole(ast.NewIdent("_")), true
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		return f.list(s.List, in)
	case *ast.LabeledStmt:
		return f.stmt(s.Stmt, in)
	case *ast.IfStmt:
		return f.ifStmt(s, in)
	case *ast.ForStmt:
		in, reached := f.stmt(s.Init, in)
		if reached || s.Cond != nil && within(s.Cond, f.use) {
			return in, true
		}
		return f.loop(s.Body, in)
	case *ast.RangeStmt:
		if within(s.X, f.use) {
			return in, true
		}
		if f.ev.Object(s.Key) == f.v || f.ev.Object(s.Value) == f.v {
			in = hole(f.ev.defs[f.v])
		}
		return f.loop(s.Body, in)
	case *ast.SwitchStmt:
		in, reached := f.stmt(s.Init, in)
		if reached || s.Tag != nil && within(s.Tag, f.use) {
			return in, true
		}
		return f.clauses(s.Body, in)
	case *ast.TypeSwitchStmt:
		return f.clauses(s.Body, in)
	case *ast.SelectStmt:
		return f.clauses(s.Body, in)
	}
	return f.simple(s, in)
}

func (f *flow) ifStmt(s *ast.IfStmt, in []Text) ([]Text, bool) {
	in, reached := f.stmt(s.Init, in)
	if reached || within(s.Cond, f.use) {
		return in, true
	}
	then, reached := f.list(s.Body.List, in)
	if reached {
		return then, true
	}
	other, reached := f.stmt(s.Else, in)
	if reached {
		return other, true
	}
	if Terminates(s.Body.List) {
		return other, false
	}
	if block, ok := s.Else.(*ast.BlockStmt); ok && Terminates(block.List) {
		return then, false
	}
	return union(then, other), false
}

func (f *flow) clauses(body *ast.BlockStmt, in []Text) ([]Text, bool) {
	var all []Text
	complete := false
	for _, c := range body.List {
		list := statements(c)
		out, reached := f.list(list, in)
		if reached {
			return out, true
		}
		if clause, ok := c.(*ast.CaseClause); ok {
			for _, e := range clause.List {
				if within(e, f.use) {
					return in, true
				}
			}
			complete = complete || clause.List == nil
		}
		if last := len(list) - 1; last < 0 || !Terminates(list) || isBreak(list[last]) {
			all = union(all, out)
		}
	}
	if !complete {
		all = union(all, in)
	}
	return all, false
}

func isBreak(s ast.Stmt) bool {
	b, ok := s.(*ast.BranchStmt)
	return ok && b.Tok == token.BREAK
}

// loop runs the body of a loop twice if it changes the variable: that shows what joins the rounds.
func (f *flow) loop(body *ast.BlockStmt, in []Text) ([]Text, bool) {
	before := f.changes
	once, reached := f.list(body.List, in)
	if reached {
		return once, true
	}
	if f.changes == before {
		return in, false
	}
	twice, _ := f.list(body.List, bounded(once))
	for i := range twice {
		twice[i].Open = true
	}
	return twice, false
}

func union(a, b []Text) []Text {
	all := slices.Clone(a)
	for _, t := range b {
		if !slices.ContainsFunc(all, func(x Text) bool { return x.Open == t.Open && slices.Equal(x.Parts, t.Parts) }) {
			all = append(all, t)
		}
	}
	return all
}

// simple handles a statement that contains no other statements, except in functions.
func (f *flow) simple(s ast.Stmt, in []Text) ([]Text, bool) {
	if within(s, f.use) {
		for n := range f.ev.Ancestors(f.use) {
			if n == ast.Node(s) {
				break
			}
			if lit, ok := n.(*ast.FuncLit); ok && within(s, lit) {
				return f.list(lit.Body.List, in)
			}
		}
		return in, true
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		return f.assign(s, in), false
	case *ast.DeclStmt:
		return f.declare(s, in), false
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			return f.write(call, in), false
		}
	}
	return in, false
}

func (f *flow) assign(s *ast.AssignStmt, in []Text) []Text {
	for i, left := range s.Lhs {
		if f.ev.Object(left) != f.v {
			continue
		}
		f.changes++
		if len(s.Lhs) != len(s.Rhs) {
			return hole(left)
		}
		if s.Tok == token.ADD_ASSIGN {
			return join(in, f.ev.eval(s.Rhs[i]))
		}
		return f.value(s.Rhs[i], in)
	}
	for _, right := range s.Rhs { // _, err := b.WriteString(x)
		if call, ok := right.(*ast.CallExpr); ok {
			in = f.write(call, in)
		}
	}
	return in
}

// value evaluates an expression that may contain the variable itself, as in f = f + x and f = fmt.Sprintf("%s and …", f).
func (f *flow) value(e ast.Expr, in []Text) []Text {
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
		return []Text{{}} // strings.Builder{}
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 1 {
		if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "new" {
			return []Text{{}}
		}
	}
	if !f.ev.Mentions(e, f.v) {
		return f.ev.eval(e)
	}
	f.ev.params = append(f.ev.params, map[types.Object][]Text{f.v: in})
	defer func() { f.ev.params = f.ev.params[:len(f.ev.params)-1] }()
	return f.ev.eval(e)
}

func (f *flow) declare(s *ast.DeclStmt, in []Text) []Text {
	decl, ok := s.Decl.(*ast.GenDecl)
	if !ok {
		return in
	}
	for _, spec := range decl.Specs {
		spec, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, name := range spec.Names {
			if f.ev.Object(name) != f.v {
				continue
			}
			switch {
			case len(spec.Values) == 0:
				return []Text{{}}
			case len(spec.Values) == len(spec.Names):
				return f.value(spec.Values[i], in)
			}
			return hole(name)
		}
	}
	return in
}

// write appends what a call writes into a builder.
func (f *flow) write(call *ast.CallExpr, in []Text) []Text {
	path, name := f.ev.Callee(call)
	if path == "fmt" && name == "Fprintf" && len(call.Args) > 1 && f.ev.Object(Root(call.Args[0])) == f.v {
		f.changes++
		return join(in, f.ev.format(call.Args[1], call.Args[2:]))
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || f.ev.Object(sel.X) != f.v {
		return in
	}
	_, method, _ := strings.Cut(name, ".")
	switch {
	case method == "WriteString" && len(call.Args) == 1:
		f.changes++
		return join(in, f.ev.eval(call.Args[0]))
	case strings.HasPrefix(method, "Write"):
		f.changes++
		if len(call.Args) != 1 {
			return join(in, hole(call))
		}
		if v := f.ev.Const(call.Args[0]); v != nil {
			if c, ok := constantRune(v); ok {
				return join(in, []Text{{Parts: []Part{{Text: string(c), From: call.Args[0]}}}})
			}
		}
		return join(in, hole(call))
	case method == "Reset":
		f.changes++
		return []Text{{}}
	}
	return in
}
