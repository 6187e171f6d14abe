package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"reflect"
	"strings"
)

// A Fact is what the callers of a function have to know of it, in whatever package they are.
type Fact struct {
	Client  bool // each call creates a client with its own pipeline
	Creates bool // each call creates a table, a queue or a container
	Safe    bool // the text that it returns has no quote that is not doubled
	Texts   []Template
}

func (*Fact) AFact() {}

// uses is the fact of a package that imports one of the checked packages, perhaps through others.
type uses struct{}

func (*uses) AFact() {}

func (p *Package) usesSDK() bool {
	for _, imported := range p.Pass.Pkg.Imports() {
		if pathOf(imported) != "" || p.Pass.ImportPackageFact(imported, new(uses)) {
			p.Pass.ExportPackageFact(new(uses))
			return true
		}
	}
	return false
}

// FactOf returns what is known of the function that call calls. It is not nil.
func (p *Package) FactOf(call *ast.CallExpr) *Fact {
	fn := p.callee(call)
	f := p.facts[fn]
	if f == nil {
		f = new(Fact)
		if fn != nil && fn.Pkg() != p.Pass.Pkg {
			p.Pass.ImportObjectFact(fn, f)
		}
	}
	return f
}

// maxCalls is the number of calls in a row through which facts are followed within a package.
const maxCalls = 4

func (p *Package) readFacts() {
	for range maxCalls {
		changed := false
		for fn, decl := range p.functions() {
			if f := p.read(decl); !reflect.DeepEqual(f, p.facts[fn]) {
				p.facts[fn] = f
				changed = true
			}
		}
		if !changed {
			break
		}
	}
	for fn, f := range p.facts {
		if !reflect.ValueOf(*f).IsZero() {
			p.Pass.ExportObjectFact(fn, f)
		}
	}
}

// functions returns the functions and methods of the package that have a body.
func (p *Package) functions() iter.Seq2[*types.Func, *ast.FuncDecl] {
	return func(yield func(*types.Func, *ast.FuncDecl) bool) {
		for _, file := range p.Files {
			for _, d := range file.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if !ok || decl.Body == nil {
					continue
				}
				if fn, ok := p.Pass.TypesInfo.Defs[decl.Name].(*types.Func); ok && !yield(fn, decl) {
					return
				}
			}
		}
	}
}

// read returns the fact of a function as far as those of the functions that it calls are known.
func (p *Package) read(decl *ast.FuncDecl) *Fact {
	f := new(Fact)
	returnsValue := decl.Type.Results.NumFields() > 0 && !IsError(p.TypeOf(decl.Type.Results.List[0].Type))
	for call := range All[*ast.CallExpr](decl.Body) {
		if _, fn := p.Body(call); fn != decl {
			continue
		}
		f.Client = f.Client || p.NewClient(call) && !p.Kept(call) && returnsValue
		f.Creates = f.Creates || p.Creates(call) && !p.Conditional(call)
	}
	fn := p.Pass.TypesInfo.Defs[decl.Name].(*types.Func)
	f.Texts = p.templates(decl, fn.Signature())
	f.Safe = returnsValue && isString(first(fn.Signature().Results())) && !Any(decl.Body, func(ret *ast.ReturnStmt) bool {
		inner, _ := p.Body(ret)
		return inner == decl.Body && (len(ret.Results) == 0 || p.MayHaveQuote(ret.Results[0], 0))
	})
	return f
}

// NewClient reports whether a call creates a client with its own pipeline. The methods of a client that return one for a table,
// a queue or a container share its pipeline.
func (p *Package) NewClient(call *ast.CallExpr) bool {
	if c := p.calls[call]; c != nil {
		return c.Recv == nil && strings.HasPrefix(c.Name, "New") && strings.Contains(c.Name, "Client")
	}
	return p.FactOf(call).Client
}

// Creates reports whether a call creates a table, a queue or a container.
func (p *Package) Creates(call *ast.CallExpr) bool {
	if c := p.calls[call]; c != nil {
		return c.Recv != nil && (c.Name == "CreateTable" || c.Name == "CreateQueue" || c.Name == "CreateContainer" || c.Name == "Create" && c.Path != Tables)
	}
	return p.FactOf(call).Creates
}

// Kept reports whether the result of a call is stored for later calls, or the call is made on a condition.
func (p *Package) Kept(call *ast.CallExpr) bool {
	s, ok := p.parents[call].(*ast.AssignStmt)
	if ok && s.Tok == token.ASSIGN {
		_, isField := s.Lhs[0].(*ast.SelectorExpr)
		obj := p.Object(s.Lhs[0])
		if isField || obj != nil && obj.Parent() == p.Pass.Pkg.Scope() {
			return true
		}
	}
	return p.Conditional(call)
}

// Conditional reports whether a call is made only on a condition, or once: in an if or switch statement that it is not a part
// of the condition of, or in a function for sync.Once.
func (p *Package) Conditional(call *ast.CallExpr) bool {
	var inner ast.Node = call
	for n := range p.Ancestors(call) {
		switch n := n.(type) {
		case *ast.IfStmt:
			if (inner == n.Body || inner == n.Else) && !onlyErrors(n.Cond) {
				return true
			}
		case *ast.FuncLit:
			if call, ok := p.parents[n].(*ast.CallExpr); ok {
				path, _ := p.Callee(call)
				return path == "sync"
			}
		}
		inner = n
	}
	return false
}

// onlyErrors reports whether a condition compares an error with nil.
func onlyErrors(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	return ok && b.Op == token.EQL && types.ExprString(b.X) == "err"
}

// A Template is one of the texts that a function can return.
type Template struct {
	Parts []TemplatePart
	Open  bool
}

// A TemplatePart is a constant, a parameter of the function, or a value that its callers do not know.
type TemplatePart struct {
	Text  string
	Param int // 0 for a constant, 1 for the first parameter, -1 for other values
	Verb  byte
}

// templates returns the texts that a function returns, or nil if nothing is known of them.
func (p *Package) templates(decl *ast.FuncDecl, signature *types.Signature) (all []Template) {
	if signature.Results().Len() == 0 || signature.Variadic() {
		return nil
	}
	if t := signature.Results().At(0).Type(); !isString(t) && !isStringPointer(t) {
		return nil
	}
	ev := &evaluator{Package: p}
	texts := ev.returned(decl.Body)
	if only(texts).Hole != nil {
		return nil
	}
	for _, t := range texts {
		template := Template{Open: t.Open}
		for _, part := range t.Parts {
			tp := TemplatePart{Text: part.Text, Verb: part.Verb}
			if i := p.paramIndex(part.Hole, signature); i >= 0 {
				tp.Param = i + 1
			} else if part.Hole != nil {
				tp.Param = -1
			}
			template.Parts = append(template.Parts, tp)
		}
		all = append(all, template)
	}
	return all
}

// texts returns the templates with the arguments of a call.
func (f *Fact) texts(call *ast.CallExpr) (all []Text) {
	for _, template := range f.Texts {
		t := Text{Open: template.Open}
		for _, part := range template.Parts {
			switch {
			case part.Param == 0:
				t.Parts = append(t.Parts, Part{Text: part.Text, From: call})
			case part.Param > 0 && part.Param <= len(call.Args):
				t.Parts = append(t.Parts, Part{Hole: call.Args[part.Param-1], Verb: part.Verb})
			default:
				t.Parts = append(t.Parts, Part{Hole: call, Verb: part.Verb})
			}
		}
		all = append(all, t)
	}
	return all
}
