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
