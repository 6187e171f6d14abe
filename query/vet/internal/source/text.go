package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
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
	// Param is set in the texts of a function: 1 if the part is its first parameter, and -1 for a value that only its package knows.
	Param int
	Verb  byte     // the verb that formats the hole, or 0
	From  ast.Expr // the expression of the program that contains the constant
}

// The limits that keep the evaluation short on any program.
const (
	maxAlternatives = 12
	maxParts        = 200
	maxDepth        = 12
	maxSteps        = 20_000
)

// Texts returns the values that e can have. An expression that cannot be evaluated is one hole.
func (p *Package) Texts(e ast.Expr) []Text { return (&evaluator{Package: p}).eval(e) }

type evaluator struct {
	*Package
	depth, steps int
	params       []map[types.Object][]Text // of the functions whose results are evaluated
	active       []types.Object            // variables whose flow is followed
}

func one(p Part) []Text { return []Text{{Parts: []Part{p}}} }

func hole(e ast.Expr) []Text { return one(Part{Hole: e}) }

// unknown returns the value of an expression that has too many values to follow.
func unknown() []Text { return hole(ast.NewIdent("_")) }

// only returns the part that is all of texts, or an empty part.
func only(texts []Text) Part {
	if len(texts) != 1 || len(texts[0].Parts) != 1 {
		return Part{}
	}
	return texts[0].Parts[0]
}

func (ev *evaluator) eval(e ast.Expr) []Text {
	ev.steps++
	ev.depth++
	defer func() { ev.depth-- }()
	if ev.depth > maxDepth || ev.steps > maxSteps {
		return hole(e)
	}
	e = ast.Unparen(e)
	if text, ok := ev.ConstText(e); ok {
		return one(Part{Text: text, From: e})
	}
	if v := ev.Const(e); v != nil {
		return one(Part{Text: v.ExactString(), From: e})
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
		if texts := ev.eval(e.X); only(texts).Hole == nil {
			return texts
		}
	case *ast.CompositeLit:
		return ev.literal(e)
	case *ast.CallExpr:
		return ev.call(e)
	}
	return hole(e)
}

// separator is the part before each element of a slice.
var separator = Part{Verb: ','}

// literal evaluates an empty literal, such as strings.Builder{}, and one of a slice of strings.
func (ev *evaluator) literal(lit *ast.CompositeLit) []Text {
	if slice, ok := ev.TypeOf(lit).Underlying().(*types.Slice); len(lit.Elts) > 0 && (!ok || !isString(slice.Elem())) {
		return hole(lit)
	}
	return ev.elements([]Text{{}}, lit.Elts)
}

// elements returns a slice with more elements.
func (ev *evaluator) elements(slice []Text, more []ast.Expr) []Text {
	for _, e := range more {
		slice = join(join(slice, one(separator)), ev.eval(e))
	}
	return slice
}

// IsBasic reports whether the underlying type of t is a basic one with this property, such as types.IsString.
func IsBasic(t types.Type, info types.BasicInfo) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&info != 0
}

func isString(t types.Type) bool { return IsBasic(t, types.IsString) }

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
	if len(texts) > maxAlternatives || slices.ContainsFunc(texts, func(t Text) bool { return len(t.Parts) > maxParts }) {
		return unknown()
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
	isParam := !Within(body, def)
	if isParam && !ev.assigned(v, body) || !ev.followed(v, body, id) {
		return hole(id)
	}
	ev.active = append(ev.active, obj)
	defer func() { ev.active = ev.active[:len(ev.active)-1] }()
	start := []Text{{}}
	if isParam {
		start = hole(id)
	}
	flow := &flow{ev: ev, v: v, use: id}
	return bounded(flow.textsAtUse(body, start))
}

// assigned reports whether v is set in body.
func (p *Package) assigned(v types.Object, body ast.Node) bool {
	return Any(body, func(s *ast.AssignStmt) bool { return p.Sets(s, v) })
}

// Sets reports whether an assignment sets v.
func (p *Package) Sets(s *ast.AssignStmt, v types.Object) bool {
	return slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return p.Object(e) == v })
}

// global evaluates a variable of the package: to its first value, or to the constants that the package sets it to.
func (ev *evaluator) global(id, def *ast.Ident) []Text {
	obj := ev.Object(id)
	var texts []Text
	for _, value := range ev.values[obj] {
		if value == nil || ev.Const(value) == nil && ev.parents[value] != ev.parents[def] {
			return hole(id)
		}
		texts = union(texts, ev.eval(value))
	}
	passed := AnyIn(ev.Package, func(address *ast.UnaryExpr) bool {
		return address.Op == token.AND && ev.Object(address.X) == obj && !Within(address, id)
	})
	if texts == nil || def.IsExported() || passed {
		return hole(id)
	}
	return bounded(texts)
}

// followed reports whether every change of v can be seen: no other function changes it, and its address goes nowhere but
// into options and to fmt.Fprintf.
func (ev *evaluator) followed(v types.Object, body ast.Node, use ast.Node) bool {
	otherFunction := Any(body, func(f *ast.FuncLit) bool { return !Within(f, use) && (ev.assigned(v, f) || ev.written(v, f)) })
	return !otherFunction && !Any(body, func(address *ast.UnaryExpr) bool {
		call, ok := ev.parents[address].(*ast.CallExpr)
		if !ok || address.Op != token.AND || ev.Object(address.X) != v || Within(address, use) {
			return false
		}
		path, name := ev.Callee(call)
		return path != "fmt" || !strings.HasPrefix(name, "Fprint")
	})
}

// written reports whether n calls a method of v that writes.
func (p *Package) written(v types.Object, n ast.Node) bool {
	return Any(n, func(sel *ast.SelectorExpr) bool {
		return p.Object(sel.X) == v && strings.HasPrefix(sel.Sel.Name, "Write")
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
	case ev.IsBuiltin(call, "new"), ev.IsBuiltin(call, "make"):
		return []Text{{}}
	case ev.IsBuiltin(call, "append") && !call.Ellipsis.IsValid() && len(call.Args) > 0:
		return ev.elements(ev.eval(call.Args[0]), call.Args[1:])
	case path == "fmt" && name == "Sprint" && len(call.Args) == 1 && !call.Ellipsis.IsValid():
		return ev.formatted('v', call.Args[0])
	case path == "strconv" && (name == "Itoa" || name == "FormatInt" || name == "FormatUint"):
		if base, ok := ev.ConstInt(call.Args[len(call.Args)-1]); name == "Itoa" || ok && base == 10 {
			return ev.formatted('d', call.Args[0])
		}
	case path == "fmt" && name == "Sprintf" && len(call.Args) > 0 && !call.Ellipsis.IsValid():
		return ev.format(call.Args[0], call.Args[1:])
	case path == "fmt" && name == "Appendf" && len(call.Args) > 1 && !call.Ellipsis.IsValid() && ev.IsNil(call.Args[0]):
		return ev.format(call.Args[1], call.Args[2:])
	case path == "strings" && name == "Join" && len(call.Args) == 2:
		return ev.joined(call)
	case path == "strings" && name == "Builder.String", path == "bytes" && name == "Buffer.String":
		builder, _ := Selected(call.Fun)
		if id, ok := builder.(*ast.Ident); ok {
			return ev.variable(id)
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

// result evaluates the first result of a call: what the return statements of the function or closure return.
func (ev *evaluator) result(call *ast.CallExpr) []Text {
	fn, decl := ev.DeclOf(call)
	body, signature := (*ast.BlockStmt)(nil), new(types.Signature)
	if decl != nil {
		body, signature = decl.Body, fn.Signature()
	} else if lit, ok := ev.Follow(call.Fun).(*ast.FuncLit); ok {
		body, signature = lit.Body, ev.TypeOf(lit).(*types.Signature)
	} else if fn != nil {
		signature = fn.Signature()
	}
	t := first(ev.TypeOf(call))
	if !isString(t) && !isStringPointer(t) || signature.Variadic() || signature.Params().Len() != len(call.Args) {
		return hole(call)
	}
	texts := ev.FactOf(call).Texts
	if body != nil {
		texts = ev.returned(body, signature)
	}
	var all []Text
	for _, t := range texts {
		value := []Text{{Open: t.Open}}
		for _, part := range t.Parts {
			value = join(value, ev.argument(part, call))
		}
		all = union(all, value)
	}
	if len(all) == 0 || only(all).Hole != nil {
		return hole(call) // it converts or escapes its argument
	}
	return bounded(all)
}

// argument returns a part of the text of a function with the argument of a call.
func (ev *evaluator) argument(part Part, call *ast.CallExpr) []Text {
	switch {
	case part.Param > 0 && part.Verb != 0:
		return ev.formatted(part.Verb, call.Args[part.Param-1])
	case part.Param > 0:
		return ev.eval(call.Args[part.Param-1])
	case part.Param < 0:
		return one(Part{Hole: call, Verb: part.Verb})
	case part.Hole == nil && part.From == nil:
		part.From = call
	}
	return one(part)
}

// returned evaluates the first results of the return statements of a function, without those that return "" and an error.
func (ev *evaluator) returned(body *ast.BlockStmt, signature *types.Signature) (all []Text) {
	outer := ev.params
	ev.params = nil
	defer func() { ev.params = outer }()
	for ret := range All[*ast.ReturnStmt](body) {
		if inner, _ := ev.Body(ret); inner != body {
			continue
		}
		if len(ret.Results) == 0 {
			return nil
		}
		if text, ok := ev.ConstText(ret.Results[0]); ok && text == "" && len(ret.Results) > 1 {
			continue
		}
		for _, t := range ev.eval(ret.Results[0]) {
			t.Parts = slices.Clone(t.Parts)
			for i, part := range t.Parts {
				if id, ok := part.Hole.(*ast.Ident); ok {
					t.Parts[i].Param = 1 + slices.Index(slices.Collect(signature.Params().Variables()), ev.variableOf(id))
				}
			}
			all = bounded(union(all, []Text{t}))
		}
	}
	return all
}

func (p *Package) variableOf(id *ast.Ident) *types.Var {
	v, _ := p.Pass.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// first returns the type of the first result of a call with several, and any other type unchanged.
func first(t types.Type) types.Type {
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		return tuple.At(0).Type()
	}
	return t
}

// DeclOf returns the function that call calls and its declaration, if that is in the package.
func (p *Package) DeclOf(call *ast.CallExpr) (*types.Func, *ast.FuncDecl) {
	fn := p.callee(call)
	if fn == nil {
		return nil, nil
	}
	decl, _ := p.parents[p.defs[fn]].(*ast.FuncDecl)
	return fn, decl
}

// format evaluates a format string and its arguments.
func (ev *evaluator) format(format ast.Expr, args []ast.Expr) []Text {
	layout := only(ev.eval(format))
	if layout.From == nil {
		return hole(format)
	}
	text := layout.Text
	texts := []Text{{}}
	for text != "" {
		before, rest, found := strings.Cut(text, "%")
		if before != "" {
			texts = join(texts, one(Part{Text: before, From: layout.From}))
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
		if verb == '%' {
			texts = join(texts, one(Part{Text: "%", From: layout.From}))
			continue
		}
		if len(args) == 0 {
			return hole(format)
		}
		if end > 0 && verb != 's' {
			verb -= 'a' - 'A' // padded
		}
		texts = join(texts, ev.formatted(verb, args[0]))
		args = args[1:]
	}
	return texts
}

// formatted evaluates an argument that a verb formats. A string or a constant integer is the same text as without the verb.
func (ev *evaluator) formatted(verb byte, arg ast.Expr) []Text {
	_, isInt := ev.ConstInt(arg)
	if (verb == 's' || verb == 'v') && isString(ev.TypeOf(arg)) || (verb == 'd' || verb == 'v') && isInt {
		return ev.eval(arg)
	}
	return one(Part{Hole: arg, Verb: verb})
}

// joined evaluates strings.Join of a slice whose elements can be seen.
func (ev *evaluator) joined(call *ast.CallExpr) []Text {
	between, texts := ev.eval(call.Args[1]), ev.eval(call.Args[0])
	if len(between) != 1 || only(texts).Hole != nil {
		return hole(call)
	}
	joined := make([]Text, len(texts))
	for i, t := range texts {
		joined[i].Open = t.Open
		for n, part := range t.Parts {
			switch {
			case part != separator:
				joined[i].Parts = append(joined[i].Parts, part)
			case n > 0:
				joined[i].Parts = append(joined[i].Parts, between[0].Parts...)
			}
		}
	}
	return bounded(joined)
}
