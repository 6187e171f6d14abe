package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
)

// A flow follows the texts of one string variable or builder through the statements of a function, up to a use.
type flow struct {
	ev      *evaluator
	v       types.Object
	use     *ast.Ident
	atUse   []Text // nil until the use is reached
	changes int
}

// textsAtUse returns the texts at the use. If no statement of body contains it, it returns those at the end.
func (f *flow) textsAtUse(body *ast.BlockStmt, in []Text) []Text {
	atEnd := f.list(body.List, in)
	if f.atUse != nil {
		return f.atUse
	}
	return atEnd
}

// list returns the texts after the statements.
func (f *flow) list(stmts []ast.Stmt, in []Text) []Text {
	for _, s := range stmts {
		in = bounded(f.stmt(s, in))
	}
	return in
}

// reach keeps the texts before n if n, which may be nil, contains the use.
func (f *flow) reach(n ast.Node, in []Text) {
	if n != nil && Within(n, f.use) && f.atUse == nil {
		f.atUse = in
	}
}

func (f *flow) stmt(s ast.Stmt, in []Text) []Text {
	f.ev.steps++
	if f.ev.steps > maxSteps {
		return unknown()
	}
	switch s := s.(type) {
	case nil:
		return in
	case *ast.BlockStmt:
		return f.list(s.List, in)
	case *ast.LabeledStmt:
		return f.stmt(s.Stmt, in)
	case *ast.IfStmt:
		return f.ifStmt(s, in)
	case *ast.ForStmt:
		in = f.stmt(s.Init, in)
		f.reach(s.Cond, in)
		return f.loop(s.Body, in)
	case *ast.RangeStmt:
		f.reach(s.X, in)
		if f.ev.Object(s.Key) == f.v || f.ev.Object(s.Value) == f.v {
			in = hole(f.use)
		}
		return f.loop(s.Body, in)
	case *ast.SwitchStmt:
		in = f.stmt(s.Init, in)
		f.reach(s.Tag, in)
		return f.clauses(s.Body, in)
	case *ast.TypeSwitchStmt:
		return f.clauses(s.Body, in)
	case *ast.SelectStmt:
		return f.clauses(s.Body, in)
	}
	return f.simple(s, in)
}

func (f *flow) ifStmt(s *ast.IfStmt, in []Text) []Text {
	in = f.stmt(s.Init, in)
	f.reach(s.Cond, in)
	then := f.list(s.Body.List, in)
	other := f.stmt(s.Else, in)
	if Terminates(s.Body.List) {
		return other
	}
	if block, ok := s.Else.(*ast.BlockStmt); ok && Terminates(block.List) {
		return then
	}
	return union(then, other)
}

func (f *flow) clauses(body *ast.BlockStmt, in []Text) []Text {
	var all []Text
	complete := false
	for _, c := range body.List {
		if clause, ok := c.(*ast.CaseClause); ok {
			complete = complete || clause.List == nil
			for _, e := range clause.List {
				f.reach(e, in)
			}
		}
		list := statements(c)
		out := f.list(list, in)
		if !Terminates(list) {
			all = union(all, out)
		}
	}
	if !complete {
		all = union(all, in)
	}
	return all
}

// loop runs the body of a loop twice if it changes the variable: that shows what joins the rounds.
func (f *flow) loop(body *ast.BlockStmt, in []Text) []Text {
	before := f.changes
	once := f.list(body.List, in)
	if f.changes == before {
		return in
	}
	twice := f.list(body.List, once)
	for i := range twice {
		twice[i].Open = true
	}
	return twice
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
func (f *flow) simple(s ast.Stmt, in []Text) []Text {
	for lit := range All[*ast.FuncLit](s) {
		if Within(lit, f.use) {
			f.list(lit.Body.List, in)
		}
	}
	f.reach(s, in)
	switch s := s.(type) {
	case *ast.AssignStmt:
		return f.assign(s, in)
	case *ast.DeclStmt:
		return f.declare(s, in)
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			return f.write(call, in)
		}
	}
	return in
}

func (f *flow) assign(s *ast.AssignStmt, in []Text) []Text {
	for i, left := range s.Lhs {
		element, isElement := left.(*ast.IndexExpr)
		if isElement && len(s.Lhs) == len(s.Rhs) && f.ev.Object(element.X) == f.v {
			f.changes++
			return f.ev.elements(in, s.Rhs[i:i+1])
		}
		if f.ev.Object(left) != f.v {
			continue
		}
		f.changes++
		if len(s.Lhs) != len(s.Rhs) {
			if call, ok := s.Rhs[0].(*ast.CallExpr); ok && i == 0 {
				return f.ev.eval(call)
			}
			return hole(f.use)
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
	if !f.ev.Mentions(e, f.v) {
		return f.ev.eval(e)
	}
	f.ev.params = append(f.ev.params, map[types.Object][]Text{f.v: in})
	defer func() { f.ev.params = f.ev.params[:len(f.ev.params)-1] }()
	return f.ev.eval(e)
}

func (f *flow) declare(s *ast.DeclStmt, in []Text) []Text {
	for spec := range All[*ast.ValueSpec](s) {
		for i, name := range spec.Names {
			if f.ev.Object(name) != f.v {
				continue
			}
			switch len(spec.Values) {
			case 0:
				return []Text{{}}
			case len(spec.Names):
				return f.value(spec.Values[i], in)
			}
			return hole(f.use)
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
	if recv, _ := Selected(call.Fun); recv == nil || f.ev.Object(recv) != f.v {
		return in
	}
	switch _, method, _ := strings.Cut(name, "."); {
	case method == "Reset":
		f.changes++
		return []Text{{}}
	case strings.HasPrefix(method, "Write"):
		f.changes++
		return join(in, f.written(method, call))
	}
	return in
}

// written returns what a method of a builder writes.
func (f *flow) written(method string, call *ast.CallExpr) []Text {
	if len(call.Args) != 1 {
		return hole(call)
	}
	if method == "WriteString" {
		return f.ev.eval(call.Args[0])
	}
	if v := f.ev.Const(call.Args[0]); v != nil { // WriteByte and WriteRune
		if n, ok := constant.Int64Val(constant.ToInt(v)); ok && 0 <= n && n <= unicode.MaxRune {
			return one(Part{Text: string(rune(n)), From: call.Args[0]})
		}
	}
	return hole(call)
}
