package rules

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// clientPerCall reports clients that are created for each request.
var clientPerCall = &Rule{Name: "clientpercall", Severity: Warning, run: func(c *check) {
	for _, call := range c.Calls {
		isConstructor := call.Path == source.Tables && call.Recv == nil && strings.HasPrefix(call.Name, "New") && strings.Contains(call.Name, "Client")
		if isConstructor && c.handlesRequest(call) {
			c.report(call, "this function runs for each request, and each client has its own pipeline and cache of access tokens; create the client once and share it, it is safe for concurrent use")
		}
	}
}}

// createPerCall reports tables that are created again on each call.
var createPerCall = &Rule{Name: "createpercall", Severity: Warning, run: func(c *check) {
	for call := range c.CallsOf(source.Tables, "CreateTable") {
		if call.Recv != nil && (c.handlesRequest(call) || c.writesToo(call)) {
			c.report(call, "the table is created on each call: one more request, which fails with 409 once the table exists; create it when the program starts")
		}
	}
}}

// handlesRequest reports whether n is in a handler of HTTP requests.
func (c *check) handlesRequest(n ast.Node) bool {
	decl := c.Decl(n)
	for a := range c.Ancestors(n) {
		for param := range c.signature(a).Params().Variables() {
			if source.IsNamed(param.Type(), "net/http", "Request") || source.IsNamed(param.Type(), "github.com/gin-gonic/gin", "Context") {
				return true
			}
		}
		if _, inner := a.(*ast.FuncLit); inner && decl != nil && strings.HasPrefix(decl.Name.Name, "New") {
			return false
		}
	}
	return false
}

// writesToo reports whether the exported method around the call also reads or writes rows, through the field that is the
// client: the method is then not one that only sets up.
func (c *check) writesToo(call *source.Call) bool {
	decl := c.Decl(call)
	if decl == nil || decl.Recv == nil || !decl.Name.IsExported() || setsUp(decl.Name.Name) || strings.HasSuffix(c.pass.Fset.File(call.Pos()).Name(), "_test.go") {
		return false
	}
	if client, _ := source.Selected(call.Recv); client == nil {
		return false
	}
	if source.Any(decl, func(s *ast.IfStmt) bool { return source.Within(s.Body, call) }) {
		return false // on a condition, such as a missing table
	}
	for other := range c.CallsOf(source.Tables, "AddEntity", "UpdateEntity", "UpsertEntity", "GetEntity", "SubmitTransaction") {
		if other.Pos() > call.Pos() && other.End() < decl.End() && c.Same(other.Recv, call.Recv) {
			return true
		}
	}
	return false
}

// setsUp reports whether the name of a function shows that it runs once.
func setsUp(name string) bool {
	words := []string{"new", "init", "setup", "create", "open", "start", "connect", "migrate", "ensure", "run", "main", "test", "bootstrap"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
}
