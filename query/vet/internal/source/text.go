package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// A Text is one of the values that a string expression can have: constants, with holes for what is known only when the
// program runs.
type Text struct {
	Parts []Part
	Open  bool // it was built by a loop; the parts are those of two rounds
}

// A Part is a constant, or the hole of an expression.
type Part struct {
	Text string
	Hole ast.Expr // nil for a constant
	Verb byte     // the verb that formats the hole, or 0
	From ast.Expr // the expression of the program that contains the constant
}

// The limits that keep the evaluation short on any program.
const (
	maxAlternatives = 12
	maxParts        = 200
	maxDepth        = 12
	maxSteps        = 20_000
)

// Texts returns the values that e can have. An expression that cannot be evaluated is one hole.
func (p *Package) Texts(e ast.Expr) []Text {
	return (&evaluator{Package: p}).eval(e)
}

type evaluator struct {
	*Package
	depth, steps int
	params       []map[types.Object][]Text // of the functions whose results are evaluated
	active       []types.Object            // variables whose flow is followed
}

func hole(e ast.Expr) []Text { return []Text{{Parts: []Part{{Hole: e}}}} }

func (ev *evaluator) eval(e ast.Expr) []Text {
	ev.steps++
	ev.depth++
	defer func() { ev.depth-- }()
	if ev.depth > maxDepth || ev.steps > maxSteps {
		return hole(e)
	}
	e = ast.Unparen(e)
	if v := ev.Const(e); v != nil {
		if v.Kind() == constant.String {
			return []Text{{Parts: []Part{{Text: constant.StringVal(v), From: e}}}}
		}
		return []Text{{Parts: []Part{{Text: v.ExactString(), From: e}}}}
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD && isString(ev.TypeOf(e)) {
			return join(ev.eval(e.X), ev.eval(e.Y))
		}
	case *ast.Ident:
		return ev.variable(e)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return ev.eval(e.X)
		}
	case *ast.StarExpr:
		return ev.eval(e.X)
	case *ast.CallExpr:
		return ev.call(e)
	}
	return hole(e)
}

func isString(t types.Type) bool {
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// join returns every element of a followed by every element of b.
func join(a, b []Text) []Text {
	var all []Text
	for _, x := range a {
		for _, y := range b {
			all = append(all, Text{Parts: slices.Concat(x.Parts, y.Parts), Open: x.Open || y.Open})
		}
	}
	return bounded(all)
}

// bounded returns texts, or one unknown text if there are too many.
func bounded(texts []Text) []Text {
	unknown := len(texts) > maxAlternatives
	for _, t := range texts {
		unknown = unknown || len(t.Parts) > maxParts
	}
	if unknown {
		return []Text{{Parts: []Part{{Hole: ast.NewIdent("_")}}}}
	}
	return texts
}

func (ev *evaluator) variable(id *ast.Ident) []Text {
	obj := ev.Object(id)
	for _, params := range ev.params {
		if texts, ok := params[obj]; ok {
			return texts
		}
	}
	v, ok := obj.(*types.Var)
	def := ev.defs[obj]
	if !ok || def == nil || slices.Contains(ev.active, obj) {
		return hole(id)
	}
	body, _ := ev.Body(def)
	if body == nil {
		return ev.global(id, def)
	}
	isParam := !within(body, def)
	if isParam && !ev.assigned(v, body) || !ev.followed(v, body, id) {
		return hole(id)
	}
	ev.active = append(ev.active, obj)
	defer func() { ev.active = ev.active[:len(ev.active)-1] }()
	flow := &flow{ev: ev, v: v, use: id}
	start := []Text{{}}
	if isParam {
		start = hole(id)
	}
	texts, _ := flow.list(body.List, start)
	return bounded(texts)
}

func within(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// assigned reports whether v is set in body.
func (p *Package) assigned(v types.Object, body ast.Node) bool {
	return Any(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		return ok && slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return p.Object(e) == v })
	})
}

// global evaluates a variable of the package: to its first value, or to the constants that the package sets it to.
func (ev *evaluator) global(id, def *ast.Ident) []Text {
	spec, ok := ev.parents[def].(*ast.ValueSpec)
	if !ok || def.IsExported() || len(spec.Values) > 0 && len(spec.Names) != len(spec.Values) {
		return hole(id)
	}
	var values []ast.Expr
	if len(spec.Values) > 0 {
		values = append(values, spec.Values[slices.Index(spec.Names, def)])
	}
	obj := ev.Object(id)
	for _, file := range ev.Pass.Files {
		if Any(file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			for i := 0; ok && i < len(a.Lhs); i++ {
				if ev.Object(a.Lhs[i]) != obj {
					continue
				}
				if a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) || ev.Const(a.Rhs[i]) == nil {
					return true
				}
				values = append(values, a.Rhs[i])
			}
			address, ok := n.(*ast.UnaryExpr)
			return ok && address.Op == token.AND && ev.Object(address.X) == obj && !within(address, id)
		}) {
			return hole(id)
		}
	}
	var texts []Text
	for _, value := range values {
		texts = union(texts, ev.eval(value))
	}
	if texts == nil {
		return hole(id)
	}
	return bounded(texts)
}

// followed reports whether every change of v can be seen: no other function changes it, and its address goes nowhere but
// into options and to fmt.Fprintf.
func (ev *evaluator) followed(v types.Object, body ast.Node, use ast.Node) bool {
	return !Any(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !within(n, use) && (ev.assigned(v, n) || ev.written(v, n))
		case *ast.UnaryExpr:
			if n.Op != token.AND || ev.Object(n.X) != v {
				return false
			}
			call, ok := ev.parents[n].(*ast.CallExpr)
			if !ok || within(n, use) {
				return false
			}
			path, name := ev.Callee(call)
			return path != "fmt" || !strings.HasPrefix(name, "Fprint")
		}
		return false
	})
}

// written reports whether n calls a method of v that writes.
func (p *Package) written(v types.Object, n ast.Node) bool {
	return Any(n, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		return ok && p.Object(sel.X) == v && strings.HasPrefix(sel.Sel.Name, "Write")
	})
}

func (ev *evaluator) call(call *ast.CallExpr) []Text {
	if tv := ev.Pass.TypesInfo.Types[call.Fun]; tv.IsType() && len(call.Args) == 1 {
		if isString(tv.Type) && isString(ev.TypeOf(call.Args[0])) {
			return ev.eval(call.Args[0])
		}
		return hole(call)
	}
	path, name := ev.Callee(call)
	switch {
	case path == "fmt" && name == "Sprintf" && len(call.Args) > 0 && !call.Ellipsis.IsValid():
		return ev.format(call.Args[0], call.Args[1:])
	case path == "strings" && name == "Join" && len(call.Args) == 2:
		return ev.joined(call)
	case path == "strings" && name == "Builder.String", path == "bytes" && name == "Buffer.String":
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok {
				return ev.variable(id)
			}
		}
	case len(call.Args) == 1 && isStringPointer(ev.TypeOf(call)) && isString(ev.TypeOf(call.Args[0])):
		return ev.eval(call.Args[0]) // to.Ptr and the like
	default:
		return ev.result(call)
	}
	return hole(call)
}

func isStringPointer(t types.Type) bool {
	pointer, ok := t.Underlying().(*types.Pointer)
	return ok && isString(pointer.Elem())
}

// result evaluates a call of a function of the package that only returns an expression.
func (ev *evaluator) result(call *ast.CallExpr) []Text {
	fn, decl := ev.DeclOf(call)
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 || !isString(ev.TypeOf(call)) || len(ev.params) > 3 {
		return hole(call)
	}
	params := fn.Signature().Params()
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 || fn.Signature().Variadic() || params.Len() != len(call.Args) {
		return hole(call)
	}
	values := map[types.Object][]Text{}
	for i, arg := range call.Args {
		values[params.At(i)] = ev.eval(arg)
	}
	outer := ev.params
	ev.params = []map[types.Object][]Text{values}
	texts := ev.eval(ret.Results[0])
	ev.params = outer
	if len(texts) == 1 && len(texts[0].Parts) == 1 && texts[0].Parts[0].Hole != nil {
		return hole(call) // it converts or escapes its argument
	}
	return texts
}

// DeclOf returns the function that call calls and its declaration, if that is in the package.
func (p *Package) DeclOf(call *ast.CallExpr) (*types.Func, *ast.FuncDecl) {
	fn, ok := typeutil.Callee(p.Pass.TypesInfo, call).(*types.Func)
	if !ok {
		return nil, nil
	}
	return fn, p.decls[fn.Origin()]
}

// format evaluates a format string and its arguments.
func (ev *evaluator) format(format ast.Expr, args []ast.Expr) []Text {
	text, ok := ev.ConstText(format)
	if !ok {
		layouts := ev.eval(format)
		if len(layouts) != 1 || len(layouts[0].Parts) != 1 || layouts[0].Parts[0].Hole != nil {
			return hole(format)
		}
		text, format = layouts[0].Parts[0].Text, layouts[0].Parts[0].From
	}
	texts := []Text{{}}
	for text != "" {
		before, rest, found := strings.Cut(text, "%")
		if before != "" {
			texts = join(texts, []Text{{Parts: []Part{{Text: before, From: format}}}})
		}
		if !found {
			break
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("+-# 0123456789.", r) })
		if end < 0 || rest[end] == '[' || rest[end] == '*' {
			return hole(format)
		}
		verb := rest[end]
		text = rest[end+1:]
		switch {
		case verb == '%':
			texts = join(texts, []Text{{Parts: []Part{{Text: "%", From: format}}}})
			continue
		case len(args) == 0:
			return hole(format)
		case (verb == 's' || verb == 'v') && end == 0 && isString(ev.TypeOf(args[0])):
			texts = join(texts, ev.eval(args[0]))
		default:
			part := Part{Hole: args[0], Verb: verb}
			if v := ev.Const(args[0]); v != nil && v.Kind() == constant.Int && end == 0 && (verb == 'd' || verb == 'v') {
				part = Part{Text: v.ExactString(), From: args[0]}
			}
			if end > 0 && verb != 's' {
				part.Verb = verb - 'a' + 'A' // padded
			}
			texts = join(texts, []Text{{Parts: []Part{part}}})
		}
		args = args[1:]
	}
	return texts
}

// joined evaluates strings.Join of a literal, or of a local slice to which elements are appended.
func (ev *evaluator) joined(call *ast.CallExpr) []Text {
	separator := ev.eval(call.Args[1])
	if lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit); ok {
		texts := []Text{{}}
		for i, e := range lit.Elts {
			if i > 0 {
				texts = join(texts, separator)
			}
			texts = join(texts, ev.eval(e))
		}
		return texts
	}
	id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	if !ok || ev.defs[ev.Object(id)] == nil {
		return hole(call)
	}
	v := ev.Object(id)
	body, _ := ev.Body(ev.defs[v])
	var element ast.Expr
	appends := 0
	Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 2 && ev.Object(c.Args[0]) == v {
			if fun, ok := ast.Unparen(c.Fun).(*ast.Ident); ok && fun.Name == "append" && !c.Ellipsis.IsValid() {
				element = c.Args[1]
				appends++
			}
		}
		return true
	})
	if appends != 1 || ev.Loop(element) == nil {
		return hole(call)
	}
	one := ev.eval(element)
	if len(one) != 1 {
		return hole(call)
	}
	texts := join(one, join(separator, one))
	for i := range texts {
		texts[i].Open = true
	}
	return texts
}

func constantRune(v constant.Value) (rune, bool) {
	n, ok := constant.Int64Val(constant.ToInt(v))
	return rune(n), ok && 0 <= n && n <= 0x10FFFF
}
