// Package source reads hand-written aztables and azqueue code: its calls, its variables, and the texts of its filters.
package source

import (
	"go/ast"
	"go/build"
	"go/constant"
	"go/token"
	"go/types"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// The import paths of the packages whose users are checked.
const (
	Tables = "github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	Queues = "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	Blobs  = "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob" // with the packages below it
)

var paths = []string{Tables, Queues, Blobs}

// Analyzer reads a package once, for all rules. Its result is a *Package.
var Analyzer = &analysis.Analyzer{
	Name:             "azsource",
	Doc:              "read the calls of aztables, azqueue and azblob",
	ResultType:       reflect.TypeFor[*Package](),
	FactTypes:        []analysis.Fact{new(Fact), new(uses)},
	RunDespiteErrors: true,
	Run:              func(pass *analysis.Pass) (any, error) { return Read(pass, false), nil },
}

// A Package is the code to check, without generated and very large files. Packages of the standard library and of other modules
// have no files.
// A Package is not changed after it is read, so it may be used concurrently.
type Package struct {
	Pass    *analysis.Pass
	Uses    bool // it imports one of the checked packages, perhaps through others of the program
	Files   []*ast.File
	Calls   []*Call   // of the checked packages, in the order of the source
	Filters []*Filter // of entities and tables
	Set     []Setting // in the order of the source

	parents map[ast.Node]ast.Node
	defs    map[types.Object]*ast.Ident
	values  map[types.Object][]ast.Expr // that variables are set to, with nil for those that are not known
	callers map[*types.Func][]*ast.CallExpr
	all     []*ast.CallExpr // of functions and methods
	facts   map[*types.Func]*Fact
	calls   map[*ast.CallExpr]*Call
}

// A Call is a call of a method or function of aztables or azqueue, of one of their pagers, or of an interface of the program
// with such a method.
// Like the package that contains it, it is not changed and may be used concurrently.
type Call struct {
	*ast.CallExpr
	Path string // Tables or Queues
	Name string
	Recv ast.Expr // nil for a function
}

// A Setting is a value that the program stores in a field of a struct or in an element of a map: in a literal, or by an
// assignment such as options.Filter = &filter and entity["Name"] = name.
type Setting struct {
	Name  string   // the field, or the constant key
	Value ast.Expr // not nil
	At    ast.Node // the *ast.KeyValueExpr or *ast.AssignStmt
	Of    ast.Expr // the literal, or what the program names the struct or map
}

// maxFile is the size in bytes of the largest file that is read. Only generators write larger ones.
const maxFile = 150_000

// Read reads the package of pass. Without foreign it reads only packages of the program.
func Read(pass *analysis.Pass, foreign bool) *Package {
	p := &Package{
		Pass:    pass,
		parents: map[ast.Node]ast.Node{},
		defs:    map[types.Object]*ast.Ident{},
		values:  map[types.Object][]ast.Expr{},
		callers: map[*types.Func][]*ast.CallExpr{},
		facts:   map[*types.Func]*Fact{},
		calls:   map[*ast.CallExpr]*Call{},
	}
	p.Uses = foreign || p.usesSDK()
	p.Files = slices.DeleteFunc(slices.Clone(pass.Files), func(file *ast.File) bool {
		return ast.IsGenerated(file) || file.FileEnd-file.FileStart > maxFile || !foreign && IsForeign(pass.Fset.File(file.FileStart).Name())
	})
	for _, file := range p.Files {
		ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
			if len(stack) > 0 {
				p.parents[n] = stack[len(stack)-1]
			}
			p.readNode(n)
			return true
		})
	}
	p.readFacts()
	p.readFilters()
	return p
}

// IsSDK reports whether a path is that of one of the checked packages.
func IsSDK(path string) bool { return pathOf(types.NewPackage(path, "")) != "" }

// GOROOT returns the folder of the standard library, "" if it is unknown. A program that was built with -trimpath has to ask the go command.
var GOROOT = sync.OnceValue(func() string {
	if build.Default.GOROOT != "" {
		return build.Default.GOROOT
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(root))
})

// IsForeign reports whether a file belongs to the standard library or to another module.
func IsForeign(name string) bool {
	name = filepath.ToSlash(name)
	for _, folder := range []string{os.Getenv("GOMODCACHE"), GOROOT()} {
		if folder != "" && strings.HasPrefix(name, filepath.ToSlash(folder)+"/") {
			return true
		}
	}
	return strings.Contains(name, "/pkg/mod/") || strings.Contains(name, "/vendor/")
}

func (p *Package) readNode(n ast.Node) {
	switch n := n.(type) {
	case *ast.Ident:
		if obj := p.Pass.TypesInfo.Defs[n]; obj != nil {
			p.defs[obj] = n
		}
	case *ast.CallExpr:
		p.readCall(n)
	case *ast.CompositeLit:
		p.Set = append(p.Set, p.Settings(n)...)
	case *ast.AssignStmt:
		p.readAssignment(n)
		for i, left := range n.Lhs {
			p.readValue(left, assignedValue(n, i))
		}
	case *ast.ValueSpec:
		for i, value := range n.Values[:min(len(n.Values), len(n.Names))] {
			p.readValue(n.Names[i], value)
		}
	case *ast.RangeStmt:
		p.readValue(n.Key, nil)
		p.readValue(n.Value, nil)
	}
}

func (p *Package) readValue(variable, value ast.Expr) {
	if obj := p.Object(variable); obj != nil {
		p.values[obj] = append(p.values[obj], value)
	}
}

func (p *Package) readCall(call *ast.CallExpr) {
	fn := p.callee(call)
	if fn == nil {
		return
	}
	p.callers[fn] = append(p.callers[fn], call)
	p.all = append(p.all, call)
	c := &Call{CallExpr: call}
	c.Path, c.Name = p.shape(fn, call)
	if fn.Signature().Recv() != nil {
		c.Recv, _ = Selected(call.Fun)
	}
	if c.Path != "" {
		p.Calls = append(p.Calls, c)
		p.calls[call] = c
	}
}

// shape returns the package and the method of the SDK that a call is one of. A method of the program counts as one of the SDK if it
// has the parameters and the result of one, or if it belongs to an interface and has its name and a context.
func (p *Package) shape(fn *types.Func, call *ast.CallExpr) (path, name string) {
	signature, name := fn.Signature(), fn.Name()
	if name == "DequeueMessages" || name == "PeekMessages" {
		name = strings.TrimSuffix(name, "s")
	}
	if path := pathOf(fn.Pkg()); path != "" || signature.Recv() == nil || signature.Params().Len() == 0 {
		return path, name
	}
	path = pathOfResults(p.TypeOf(call))
	if path == "" && p.Uses && types.IsInterface(signature.Recv().Type()) && IsNamed(signature.Params().At(0).Type(), "context", "Context") {
		return methods[name], name
	}
	_, result := NameOf(first(signature.Results()))
	if response, ok := strings.CutSuffix(result, "Response"); ok && arguments[response] == signature.Params().Len() {
		return path, response
	}
	if types.IsInterface(signature.Recv().Type()) || name == "NextPage" {
		return path, name
	}
	return "", ""
}

// arguments is the number of parameters of the methods whose responses have their names.
var arguments = map[string]int{"GetEntity": 4, "AddEntity": 3, "UpdateEntity": 3, "UpsertEntity": 3, "DeleteEntity": 4, "UpdateMessage": 5, "DeleteMessage": 4}

// methods are those whose names no other service has.
var methods = map[string]string{
	"GetEntity": Tables, "AddEntity": Tables, "UpdateEntity": Tables, "UpsertEntity": Tables, "DeleteEntity": Tables, "SubmitTransaction": Tables,
	"EnqueueMessage": Queues, "DequeueMessage": Queues, "DeleteMessage": Queues, "UploadBuffer": Blobs, "UploadStream": Blobs, "DownloadStream": Blobs,
}

// Settings returns the values of the fields or elements of a literal.
func (p *Package) Settings(lit *ast.CompositeLit) (all []Setting) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			id, isIdent := kv.Key.(*ast.Ident)
			name, isText := p.ConstText(kv.Key)
			if _, isMap := p.TypeOf(lit).Underlying().(*types.Map); isIdent && !isText && !isMap {
				name = id.Name
			}
			all = append(all, Setting{name, kv.Value, kv, lit})
		}
	}
	return all
}

func (p *Package) readAssignment(s *ast.AssignStmt) {
	if s.Tok != token.ASSIGN || len(s.Lhs) != len(s.Rhs) {
		return
	}
	for i, left := range s.Lhs {
		switch left := left.(type) {
		case *ast.SelectorExpr:
			p.Set = append(p.Set, Setting{left.Sel.Name, s.Rhs[i], s, left.X})
		case *ast.IndexExpr:
			if name, ok := p.ConstText(left.Index); ok {
				p.Set = append(p.Set, Setting{name, s.Rhs[i], s, left.X})
			}
		}
	}
}

// pathOf returns the path of one of the checked packages, and "" for any other package.
func pathOf(pkg *types.Package) string {
	for _, path := range paths {
		if isPackage(pkg, path) || pkg != nil && strings.Contains(pkg.Path(), path+"/") {
			return path
		}
	}
	return ""
}

// isPackage reports whether pkg is the package with this path, or a vendored copy of it.
func isPackage(pkg *types.Package, path string) bool {
	return pkg != nil && (pkg.Path() == path || strings.HasSuffix(pkg.Path(), "/vendor/"+path))
}

// pathOfResults returns the package of the results of a call, such as (AddEntityResponse, error).
func pathOfResults(results types.Type) string {
	for _, path := range paths {
		if strings.Contains(results.String(), path+".") || strings.Contains(results.String(), path+"/") {
			return path
		}
	}
	return ""
}

// namedOf returns the named type that t is or points to, or nil.
func namedOf(t types.Type) *types.Named {
	t = types.Unalias(t)
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	named, _ := t.(*types.Named)
	return named
}

// NameOf returns the package path and the name of the type that t is or points to.
func NameOf(t types.Type) (path, name string) {
	named := namedOf(t)
	if named == nil || named.Obj().Pkg() == nil {
		return "", ""
	}
	return named.Obj().Pkg().Path(), named.Obj().Name()
}

// CallsOf returns the calls of the functions and methods with these names in the package with this path, or in any if it is "".
func (p *Package) CallsOf(path string, names ...string) iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for _, c := range p.Calls {
			if (path == "" || c.Path == path) && slices.Contains(names, c.Name) && !yield(c) {
				return
			}
		}
	}
}

// AllCalls returns the calls of functions and methods in the package, in the order of the source.
func (p *Package) AllCalls() []*ast.CallExpr { return p.all }

// CallersOf returns the calls of a function in the package.
func (p *Package) CallersOf(decl *ast.FuncDecl) []*ast.CallExpr {
	fn, _ := p.Pass.TypesInfo.Defs[decl.Name].(*types.Func)
	return p.callers[fn]
}

// The methods that write, and those that read.
var (
	writes = []string{
		"AddEntity", "UpdateEntity", "UpsertEntity", "DeleteEntity", "SubmitTransaction", "EnqueueMessage", "UpdateMessage", "DeleteMessage",
		"Upload", "UploadBuffer", "UploadStream", "UploadFile", "DeleteBlob", "AppendBlock", "StageBlock", "CommitBlockList", "SetMetadata",
	}
	reads = []string{"GetEntity", "NextPage", "DequeueMessage", "PeekMessage", "DownloadStream", "DownloadBuffer", "DownloadFile"}
)

// CallOf returns the call of the SDK that an expression is, or nil.
func (p *Package) CallOf(call *ast.CallExpr) *Call { return p.calls[call] }

// IsCall reports whether an expression is a call of one of the methods of the SDK.
func (p *Package) IsCall(call *ast.CallExpr, names ...string) bool {
	c := p.calls[call]
	return c != nil && c.Recv != nil && slices.Contains(names, c.Name)
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
	if t := p.Pass.TypesInfo.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// IsNamed reports whether t, or what t points to, is the type with this path and name.
func IsNamed(t types.Type, path, name string) bool {
	named := namedOf(t)
	return named != nil && named.Obj().Name() == name && isPackage(named.Obj().Pkg(), path)
}

// Const returns the constant value of e, or nil.
func (p *Package) Const(e ast.Expr) constant.Value { return p.Pass.TypesInfo.Types[e].Value }

// ConstText returns the constant string of e.
func (p *Package) ConstText(e ast.Expr) (string, bool) {
	v := p.Const(e)
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// ConstInt returns the constant integer of e.
func (p *Package) ConstInt(e ast.Expr) (int64, bool) {
	v := p.Const(e)
	if v == nil || v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}

// IsNil reports whether e is the predeclared nil.
func (p *Package) IsNil(e ast.Expr) bool { return p.Pass.TypesInfo.Types[e].IsNil() }

// callee returns the function or method that call, which may be nil, calls, or nil.
func (p *Package) callee(call *ast.CallExpr) *types.Func {
	if call == nil {
		return nil
	}
	fn, ok := typeutil.Callee(p.Pass.TypesInfo, call).(*types.Func)
	if !ok {
		return nil
	}
	return fn.Origin()
}

// Callee returns the package path and the name of the function that call calls, with the type of the receiver before
// the name of a method: "strings" and "Builder.String".
func (p *Package) Callee(call *ast.CallExpr) (path, name string) {
	fn := p.callee(call)
	if fn == nil || fn.Pkg() == nil {
		return "", ""
	}
	name = fn.Name()
	if recv := fn.Signature().Recv(); recv != nil {
		if named := namedOf(recv.Type()); named != nil {
			name = named.Obj().Name() + "." + name
		}
	}
	return fn.Pkg().Path(), name
}

// IsBuiltin reports whether call calls the predeclared function with this name.
func (p *Package) IsBuiltin(call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && id.Name == name && p.Pass.TypesInfo.Types[id].IsBuiltin()
}

// Object returns the variable that e names, or nil.
func (p *Package) Object(e ast.Expr) types.Object {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil
	}
	return p.Pass.TypesInfo.ObjectOf(id)
}

// HasLiteral reports whether a string literal of the package, such as the tag of a field, contains text.
func (p *Package) HasLiteral(text string) bool {
	return AnyIn(p, func(lit *ast.BasicLit) bool { return lit.Kind == token.STRING && strings.Contains(lit.Value, text) })
}

// Definition returns the identifier that declares obj in the package, or nil.
func (p *Package) Definition(obj types.Object) *ast.Ident { return p.defs[obj] }
