package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Fact is what the callers of a function have to know of it, in whatever package they are.
type Fact struct {
	Client     bool   // each call creates a client with its own pipeline
	Creates    bool   // each call creates a table, a queue or a container
	Reads      bool   // it reads a row or a blob and returns the error of that
	Writes     bool   // it writes and returns the error of that
	Rows       bool   // it reads or writes one row for each call
	Overwrites bool   // it writes what it is passed over any version
	Deletes    bool   // it deletes the message that it is passed
	Removes    bool   // it deletes the row or blob that it is passed
	Wraps      bool   // it wraps the errors of requests
	Unescaped  bool   // it writes a parameter into a filter without doubling its quotes
	Safe       bool   // the text that it returns has no quote that is not doubled
	Texts      []Text // that it returns
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
	if c := p.calls[call]; c != nil {
		return p.ofSDK(c)
	}
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
const maxCalls = 20

func (p *Package) readFacts() {
	for range maxCalls { // until nothing changes
		changed := false
		for id, obj := range p.Pass.TypesInfo.Defs {
			fn, ok := obj.(*types.Func)
			decl, isDecl := p.parents[id].(*ast.FuncDecl)
			if !ok || !isDecl || decl.Body == nil {
				continue
			}
			if f := p.read(decl); !reflect.DeepEqual(f, p.facts[fn]) {
				p.facts[fn] = f
				changed = true
			}
		}
		if !changed {
			break
		}
	}
	p.readInterfaces()
	for fn, f := range p.facts {
		if !reflect.ValueOf(*f).IsZero() {
			p.Pass.ExportObjectFact(fn, f)
		}
	}
}

// readInterfaces assigns to the methods of the package's interfaces the facts of the type of the package that has them, if it is one.
func (p *Package) readInterfaces() {
	scope := p.Pass.Pkg.Scope()
	methods := map[string][]*types.Func{} // of interfaces, by their names
	of := map[*types.Func]*types.Interface{}
	for _, name := range scope.Names() {
		if t, ok := scope.Lookup(name).Type().Underlying().(*types.Interface); ok {
			for m := range t.Methods() {
				methods[m.Name()] = append(methods[m.Name()], m)
				of[m] = t
			}
		}
	}
	for fn, f := range maps.Clone(p.facts) {
		for _, m := range methods[fn.Name()] {
			if recv := fn.Signature().Recv(); recv == nil || m.Pkg() != p.Pass.Pkg || !types.Implements(recv.Type(), of[m]) {
				continue
			}
			if p.facts[m] == nil {
				p.facts[m] = f
			} else {
				p.facts[m] = new(Fact) // there are several
			}
		}
	}
}

// read returns the fact of a function as far as those of the functions that it calls are known.
func (p *Package) read(decl *ast.FuncDecl) *Fact {
	f := new(Fact)
	fn := p.Pass.TypesInfo.Defs[decl.Name].(*types.Func)
	results := fn.Signature().Results()
	returnsError := results.Len() > 0 && IsError(results.At(results.Len()-1).Type())
	returnsValue := results.Len() > 0 && !IsError(results.At(0).Type())
	for call := range All[*ast.CallExpr](decl.Body) {
		if _, fn := p.Body(call); fn != decl {
			continue
		}
		of, passes := p.FactOf(call), p.passes(decl, call)
		_, dropped := p.ErrorOf(call)
		f.Client = f.Client || of.Client && !p.Kept(call) && returnsValue
		f.Creates = f.Creates || of.Creates && !p.Conditional(call)
		f.Reads = f.Reads || of.Reads && !dropped && returnsError
		f.Writes = f.Writes || of.Writes && !dropped && returnsError
		f.Rows = f.Rows || of.Rows && p.Loop(call) == nil && !p.Conditional(call) && (of.Reads || passes)
		f.Overwrites = f.Overwrites || passes && of.Overwrites
		f.Deletes = f.Deletes || passes && of.Deletes
		f.Removes = f.Removes || passes && of.Removes
		f.Unescaped = f.Unescaped || of.Unescaped && passes
	}
	f.Unescaped = f.Unescaped || slices.ContainsFunc(p.Unescaped(decl.Body), func(e ast.Expr) bool { fn, _ := p.Param(e); return fn != nil })
	f.Overwrites = f.Overwrites && !f.Reads
	f.Wraps = (f.Reads || f.Writes) && Any(decl.Body, func(call *ast.CallExpr) bool {
		path, name := p.Callee(call)
		return path == "fmt" && name == "Errorf" && Any(call, func(lit *ast.BasicLit) bool { return strings.Contains(lit.Value, "%w") })
	})
	f.Texts = p.texts(decl, fn.Signature())
	f.Safe = returnsValue && isString(first(results)) && !Any(decl.Body, func(ret *ast.ReturnStmt) bool {
		inner, _ := p.Body(ret)
		return inner == decl.Body && (len(ret.Results) == 0 || p.MayHaveQuote(ret.Results[0], 0))
	})
	return f
}

// ofSDK returns the fact of a call of the SDK. The methods of a client that return one for a table, a queue or a container share
// its pipeline.
func (p *Package) ofSDK(c *Call) *Fact {
	if c.Recv == nil {
		shares := slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
			return pathOfResults(p.TypeOf(arg)) != "" && strings.HasSuffix(p.TypeOf(arg).String(), "Client")
		})
		return &Fact{Client: strings.HasPrefix(c.Name, "New") && strings.Contains(c.Name, "Client") && !shares}
	}
	f := &Fact{
		Creates: slices.Contains([]string{"CreateTable", "CreateQueue", "CreateContainer"}, c.Name) || c.Name == "Create" && c.Path != Tables,
		Reads:   slices.Contains(reads, c.Name) && c.Path != Queues,
		Writes:  slices.Contains(writes, c.Name),
		Deletes: c.Path == Queues && c.Name == "DeleteMessage",
		Removes: c.Name == "DeleteEntity" || c.Path == Blobs && (c.Name == "Delete" || c.Name == "DeleteBlob"),
	}
	f.Rows = c.Path == Tables && (f.Reads || f.Writes) && c.Name != "SubmitTransaction" && c.Name != "NextPage"
	condition := map[string]string{Tables: "IfMatch", Blobs: "AccessConditions"}[c.Path]
	options := c.Arg(len(c.Args) - 1)
	match := p.Field(p.Literal(options), condition)
	text, _ := p.ConstText(p.Resolve(match))
	open := p.IsNil(options) || p.Literal(options) != nil && match == nil || text == "*"
	f.Overwrites = f.Writes && (c.Name == "UpsertEntity" || open && (c.Path == Blobs || c.Name == "UpdateEntity"))
	return f
}

// passes reports whether an argument of a call is made of a parameter of the function that contains it.
func (p *Package) passes(decl *ast.FuncDecl, call *ast.CallExpr) bool {
	if f := p.FactOf(call); !f.Writes && !f.Deletes && !f.Removes && !f.Unescaped {
		return false
	}
	var params []types.Object
	for v := range p.Pass.TypesInfo.Defs[decl.Name].(*types.Func).Signature().Params().Variables() {
		if !IsNamed(v.Type(), "context", "Context") {
			params = append(params, v)
		}
	}
	derived := p.Derived(decl.Body, params...)
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return p.MentionsAny(arg, derived) })
}

// ErrorOf returns the variable that a call sets to its error, and whether the error is dropped: assigned to _, or not assigned by
// a call that is a statement.
func (p *Package) ErrorOf(call *ast.CallExpr) (err types.Object, dropped bool) {
	switch s := p.parents[call].(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return nil, true
	case *ast.AssignStmt:
		last := s.Lhs[len(s.Lhs)-1]
		id, ok := last.(*ast.Ident)
		return p.Object(last), len(s.Rhs) == 1 && ok && id.Name == "_"
	}
	return nil, false
}

// Kept reports whether the result of a call is stored for later calls, or the call is made on a condition.
func (p *Package) Kept(call *ast.CallExpr) bool {
	s, ok := p.parents[call].(*ast.AssignStmt)
	if !ok {
		return p.Conditional(call)
	}
	stores := func(left ast.Expr) bool { // in a field, an element, or a variable of the package
		obj := p.Object(left)
		return obj == nil && Root(left) != ast.Unparen(left) || obj != nil && obj.Parent() == p.Pass.Pkg.Scope()
	}
	body, _ := p.Body(call)
	client := p.Object(s.Lhs[0])
	return s.Tok == token.ASSIGN && stores(s.Lhs[0]) || p.Conditional(call) || Any(body, func(s *ast.AssignStmt) bool {
		return client != nil && len(s.Lhs) == len(s.Rhs) && s.Tok == token.ASSIGN && stores(s.Lhs[0]) && p.Object(s.Rhs[0]) == client
	})
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

// texts returns the texts that a function returns in the form that other packages can read, or nil if nothing is known of them.
func (p *Package) texts(decl *ast.FuncDecl, signature *types.Signature) []Text {
	if t := first(signature.Results()); signature.Variadic() || !isString(t) && !isStringPointer(t) {
		return nil
	}
	texts := (&evaluator{Package: p}).returned(decl.Body, signature)
	if part := only(texts); part.Hole != nil && part.Param == 0 {
		return nil
	}
	for _, t := range texts {
		for i, part := range t.Parts {
			if part.Hole != nil && part.Param == 0 {
				part.Param = -1
			}
			t.Parts[i] = Part{Text: part.Text, Param: part.Param, Verb: part.Verb}
		}
	}
	return texts
}
