package rules

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// deleteFirst reports queue messages that are deleted before the work that they ask for is done.
var deleteFirst = &Rule{Name: "deletefirst", Severity: Error, run: func(c *check) {
	for call := range c.CallsOf(source.Queues, "DeleteMessage") {
		message := c.Object(source.Root(call.Arg(1)))
		list, i := c.Statement(call)
		body, _ := c.Body(call)
		if message == nil || i < 0 || c.deferred(call) || !strings.Contains(message.Type().String(), "Dequeue") {
			continue
		}
		derived := c.Derived(body, message)
		if !c.worksOn(list[:i], call, derived) && c.worksOn(list[i+1:], call, derived) {
			c.report(call, "the message is deleted before the work is done: if the process ends in between, the work is lost; delete the message after the work, and make the work repeatable (azpatterns: eventual.NewWorker)")
		}
	}
}}

// deferred reports whether a call runs at the end of its function, or concurrently.
func (c *check) deferred(call *source.Call) bool {
	return source.Around[*ast.DeferStmt](c.Package, call) != nil || source.Around[*ast.GoStmt](c.Package, call) != nil
}

// worksOn reports whether statements call a function with the message or with something made of it. Calls that only decode or
// log are no work.
func (c *check) worksOn(list []ast.Stmt, deletion *source.Call, derived map[types.Object]bool) bool {
	return slices.ContainsFunc(list, func(s ast.Stmt) bool {
		return source.Any(s, func(call *ast.CallExpr) bool {
			if call == deletion.CallExpr || c.Logs(call) || c.pass.TypesInfo.Types[call.Fun].IsType() || c.pass.TypesInfo.Types[call.Fun].IsBuiltin() {
				return false
			}
			switch path, _ := c.Callee(call); path {
			case "encoding/json", "encoding/base64", "encoding/xml", "fmt", "strings", "strconv", "errors", source.Queues:
				return false
			}
			return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return c.hasContent(arg, derived) })
		})
	})
}

// hasContent reports whether an argument has the content of a message, not only its identifiers and times.
func (c *check) hasContent(arg ast.Expr, derived map[types.Object]bool) bool {
	return source.Any(arg, func(id *ast.Ident) bool {
		if !derived[c.pass.TypesInfo.ObjectOf(id)] {
			return false
		}
		sel, ok := c.Parent(id).(*ast.SelectorExpr)
		return !ok || !strings.HasSuffix(sel.Sel.Name, "Time") && !slices.Contains([]string{"MessageID", "PopReceipt", "DequeueCount", "TimeNextVisible"}, sel.Sel.Name)
	})
}
