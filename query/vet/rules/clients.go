package rules

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// clientPerCall reports clients that are created for each request.
var clientPerCall = &Rule{Name: "clientpercall", Severity: Warning, run: func(c *check) {
	for _, call := range c.AllCalls() {
		if path, name := c.Callee(call); strings.HasSuffix(path, "/azidentity") && strings.HasPrefix(name, "New") && strings.HasSuffix(name, "Credential") && !c.Kept(call) && c.runsOften(call) && c.first(c.Decl(call)) {
			c.report(call, "this creates a credential for each request, so each needs a new access token; create it once and share it, it is safe for concurrent use")
		} else if c.FactOf(call).Client && !c.Kept(call) && c.runsOften(call) && c.first(c.Decl(call)) {
			c.report(call, "this creates a client for each request, and each client has its own pipeline and cache of access tokens; create the client once and share it, it is safe for concurrent use")
		}
	}
}}

// createPerCall reports tables that are created again on each call.
var createPerCall = &Rule{Name: "createpercall", Severity: Warning, run: func(c *check) {
	for _, call := range c.AllCalls() {
		if c.FactOf(call).Creates && !c.Conditional(call) && c.runsOften(call) {
			c.report(call, "this creates the table, queue or container on each call: one more request, which fails with 409 once it exists; create it when the program starts")
		}
	}
	for range c.CallsOf("", "Delete", "DeleteTable", "DeleteContainer") {
		return // they are created for a while
	}
	for call := range c.CallsOf("", "CreateTable", "CreateContainer") {
		_, err, _ := c.Results(call.CallExpr)
		decl, s := c.Decl(call), c.failure(call.CallExpr, err)
		if s == nil || !source.Terminates(s.Body.List) || c.isTest(call) || strings.HasPrefix(strings.ToLower(decl.Name.Name), "create") || c.uses(decl, "Exist", "exist", "Conflict", "conflict", "uuid", "rand") {
			continue
		}
		if !source.Any(decl, func(e ast.Expr) bool {
			n, isNumber := c.ConstInt(e)
			text, _ := c.ConstText(e)
			return isNumber && n == 409 || strings.Contains(text, "xist")
		}) {
			c.report(call, "this fails if the table or container exists, as it does from the second start on; go on after the error TableAlreadyExists or ContainerAlreadyExists (azpatterns: Table.Create)")
		}
	}
}}

// runsOften reports whether a call that should be made once is made for each request: in a handler, or in a function that also
// reads or writes rows and is called by handlers or, from other packages, with a context.
func (c *check) runsOften(call *ast.CallExpr) bool {
	lit := source.Around[*ast.FuncLit](c.Package, call)
	if _, returned := c.Parent(lit).(*ast.ReturnStmt); c.handlesRequest(call) || lit != nil && returned && c.FactOf(call).Client && c.signature(lit).Results().Len() == 2 && strings.HasSuffix(c.signature(lit).Results().At(0).Type().String(), "Client") {
		return true // in a handler, or in a function that another one returns, which creates clients
	}
	decl := c.Decl(call)
	if decl == nil || setsUp(decl.Name.Name) || strings.HasSuffix(c.pass.Fset.File(call.Pos()).Name(), "_test.go") || !c.dataAfter(call, decl) {
		return false
	}
	if c.pass.Pkg.Name() != "main" && decl.Name.IsExported() && (decl.Recv != nil || strings.Contains(c.signature(decl).Params().String(), "context.Context")) {
		return true
	}
	return slices.ContainsFunc(c.CallersOf(decl), func(caller *ast.CallExpr) bool {
		return c.handlesRequest(caller) || c.FactOf(call).Client && c.Loop(caller) != nil && !c.isTest(caller)
	})
}

// dataAfter reports whether a function reads or writes rows, messages or blobs after call.
func (c *check) dataAfter(call *ast.CallExpr, decl *ast.FuncDecl) bool {
	return slices.ContainsFunc(c.Calls, func(other *source.Call) bool {
		f := c.FactOf(other.CallExpr)
		return other.Pos() > call.Pos() && other.End() <= decl.End() && (f.Reads || f.Writes || other.Name == "DequeueMessage" || strings.HasPrefix(other.Name, "NewList"))
	})
}

// frameworks are the packages whose handlers have a parameter of the type Request, Context, Ctx or RequestCtx.
var frameworks = []string{"http", "gin", "echo", "fiber", "fasthttp", "iris", "restful", "app", "web"}

var version = regexp.MustCompile(`/v\d+$`)

// handlesRequest reports whether n is in a handler of requests.
func (c *check) handlesRequest(n ast.Node) bool {
	decl := c.Decl(n)
	for a := range c.Ancestors(n) {
		for param := range c.signature(a).Params().Variables() {
			pkg, name := source.NameOf(param.Type())
			base := path.Base(version.ReplaceAllString(pkg, ""))
			if slices.Contains([]string{"Request", "Context", "Ctx", "RequestCtx"}, name) && slices.Contains(frameworks, base) {
				return true
			}
		}
		if _, inner := a.(*ast.FuncLit); inner && decl != nil && strings.HasPrefix(decl.Name.Name, "New") {
			return false
		}
	}
	return false
}

// setsUp reports whether the name of a function shows that it runs once.
func setsUp(name string) bool {
	words := []string{"new", "init", "setup", "create", "open", "start", "connect", "migrate", "ensure", "run", "main", "test", "bootstrap"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
}
