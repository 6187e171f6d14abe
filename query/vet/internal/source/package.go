// Package source reads hand-written aztables and azqueue code: its calls, its variables, and the texts of its filters.
package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// The import paths of the packages whose users are checked.
const (
	Tables = "github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	Queues = "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

// Analyzer reads a package once, for all rules. Its result is a *Package.
var Analyzer = &analysis.Analyzer{
	Name:       "azsource",
	Doc:        "read the calls of aztables and azqueue",
	ResultType: reflect.TypeFor[*Package](),
	Run:        func(pass *analysis.Pass) (any, error) { return Read(pass, false), nil },
}

// A Package is the code to check. A package that imports neither aztables nor azqueue has no calls and no filters. A
// Package is not changed after it is read, so it may be used concurrently.
type Package struct {
	Pass    *analysis.Pass
	Uses    bool      // whether the package imports aztables or azqueue
	Calls   []*Call   // of aztables and azqueue, in the order of the source
	Filters []*Filter // of entities

	parents  map[ast.Node]ast.Node
	defs     map[types.Object]*ast.Ident
	decls    map[*types.Func]*ast.FuncDecl
	callers  map[*types.Func][]*ast.CallExpr
	literals []string // all string literals, with their quotes
}

// A Call is a call of a method or function of aztables or azqueue, or of an interface of the program with such a method.
// Like the package that contains it, it is not changed and may be used concurrently.
type Call struct {
	*ast.CallExpr
	Path string // Tables or Queues
	Name string
	Recv ast.Expr // nil for a function
}

// Read reads the package of pass. If it imports neither aztables nor azqueue, it is read only if foreign is set.
func Read(pass *analysis.Pass, foreign bool) *Package {
	p := &Package{
		Pass:    pass,
		Uses:    foreign,
		parents: map[ast.Node]ast.Node{},
		defs:    map[types.Object]*ast.Ident{},
		decls:   map[*types.Func]*ast.FuncDecl{},
		callers: map[*types.Func][]*ast.CallExpr{},
	}
	for _, imported := range pass.Pkg.Imports() {
		p.Uses = p.Uses || pathOf(imported) != ""
	}
	if !p.Uses {
		return p
	}
	for _, file := range pass.Files {
		if !ast.IsGenerated(file) {
			p.readFile(file)
		}
	}
	for _, file := range pass.Files {
		p.readFilters(file)
	}
	return p
}

func (p *Package) readFile(file *ast.File) {
	var stack []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			p.parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.Ident:
			if obj := p.Pass.TypesInfo.Defs[n]; obj != nil {
				p.defs[obj] = n
			}
		case *ast.FuncDecl:
			if fn, ok := p.Pass.TypesInfo.Defs[n.Name].(*types.Func); ok {
				p.decls[fn] = n
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				p.literals = append(p.literals, n.Value)
			}
		case *ast.CallExpr:
			p.readCall(n)
		}
		return true
	})
}

func (p *Package) readCall(call *ast.CallExpr) {
	fn, ok := typeutil.Callee(p.Pass.TypesInfo, call).(*types.Func)
	if !ok {
		return
	}
	fn = fn.Origin()
	p.callers[fn] = append(p.callers[fn], call)
	c := &Call{CallExpr: call, Name: fn.Name(), Path: pathOf(fn.Pkg())}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && fn.Signature().Recv() != nil {
		c.Recv = sel.X
		if c.Path == "" && types.IsInterface(fn.Signature().Recv().Type()) {
			c.Path = pathOfResult(fn)
		}
	}
	if c.Path != "" {
		p.Calls = append(p.Calls, c)
	}
}

// pathOf returns the path of one of the checked packages, and "" for any other package.
func pathOf(pkg *types.Package) string {
	if pkg == nil {
		return ""
	}
	for _, path := range []string{Tables, Queues} {
		if pkg.Path() == path || strings.HasSuffix(pkg.Path(), "/vendor/"+path) {
			return path
		}
	}
	return ""
}

// pathOfResult returns the package of the first result of a method such as AddEntity.
func pathOfResult(method *types.Func) string {
	results := method.Signature().Results()
	if results.Len() == 0 {
		return ""
	}
	t := types.Unalias(results.At(0).Type())
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	named, ok := t.(*types.Named)
	if ok && named.TypeArgs().Len() == 1 {
		named, ok = types.Unalias(named.TypeArgs().At(0)).(*types.Named)
	}
	if !ok {
		return ""
	}
	return pathOf(named.Obj().Pkg())
}

// Is reports whether c calls one of the functions or methods of the package with this path.
func (c *Call) Is(path string, names ...string) bool {
	if c.Path != path {
		return false
	}
	for _, name := range names {
		if c.Name == name {
			return true
		}
	}
	return false
}

// Arg returns the argument with the index i, or nil.
func (c *Call) Arg(i int) ast.Expr {
	if i < 0 || i >= len(c.Args) {
		return nil
	}
	return ast.Unparen(c.Args[i])
}

// TypeOf returns the type of e, or an invalid type.
func (p *Package) TypeOf(e ast.Expr) types.Type {
	if e != nil {
		if t := p.Pass.TypesInfo.TypeOf(e); t != nil {
			return t
		}
	}
	return types.Typ[types.Invalid]
}

// IsNamed reports whether t, or what t points to, is the type with this path and name.
func IsNamed(t types.Type, path, name string) bool {
	t = types.Unalias(t)
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Name() != name || named.Obj().Pkg() == nil {
		return false
	}
	return named.Obj().Pkg().Path() == path || strings.HasSuffix(named.Obj().Pkg().Path(), "/vendor/"+path)
}

// Const returns the constant value of e, or nil.
func (p *Package) Const(e ast.Expr) constant.Value {
	if e == nil {
		return nil
	}
	return p.Pass.TypesInfo.Types[e].Value
}

// ConstText returns the constant string of e.
func (p *Package) ConstText(e ast.Expr) (string, bool) {
	v := p.Const(e)
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// IsNil reports whether e is the predeclared nil.
func (p *Package) IsNil(e ast.Expr) bool { return e != nil && p.Pass.TypesInfo.Types[e].IsNil() }

// Callee returns the package path and the name of the function that call calls, with the type of the receiver before
// the name of a method: "strings" and "Builder.String".
func (p *Package) Callee(call *ast.CallExpr) (path, name string) {
	fn, ok := typeutil.Callee(p.Pass.TypesInfo, call).(*types.Func)
	if !ok || fn.Pkg() == nil {
		return "", ""
	}
	name = fn.Name()
	if recv := fn.Signature().Recv(); recv != nil {
		t := types.Unalias(recv.Type())
		if pointer, ok := t.(*types.Pointer); ok {
			t = types.Unalias(pointer.Elem())
		}
		if named, ok := t.(*types.Named); ok {
			name = named.Obj().Name() + "." + name
		}
	}
	return fn.Pkg().Path(), name
}

// Object returns the variable that e names, or nil.
func (p *Package) Object(e ast.Expr) types.Object {
	if e == nil {
		return nil
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil
	}
	return p.Pass.TypesInfo.ObjectOf(id)
}

// HasLiteral reports whether a string literal of the package, such as the tag of a field, contains text.
func (p *Package) HasLiteral(text string) bool {
	for _, literal := range p.literals {
		if strings.Contains(literal, text) {
			return true
		}
	}
	return false
}

// Definition returns the identifier that declares obj in the package, or nil.
func (p *Package) Definition(obj types.Object) *ast.Ident { return p.defs[obj] }
