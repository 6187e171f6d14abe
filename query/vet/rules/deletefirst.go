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
	for call := range c.AllCalls() {
		list, i := c.Statement(call)
		body, _ := c.Body(call)
		message := c.messageOf(call)
		if message == nil || i < 0 || !c.Deletes(call) || source.Around[*ast.GoStmt](c.Package, call) != nil {
			continue
		}
		derived := c.Derived(body, message)
		if !c.worksOn(list[:i], call, derived) && c.worksOn(list[i+1:], call, derived) {
			if source.Around[*ast.DeferStmt](c.Package, call) != nil {
				c.report(call, "a deferred call deletes the message even if the work fails, so the work is lost; delete the message after the work if that succeeded (azpatterns: eventual.NewWorker)")
				continue
			}
			c.report(call, "the message is deleted before the work is done: if the process ends in between, the work is lost; delete the message after the work, and make the work repeatable (azpatterns: eventual.NewWorker)")
		}
	}
}}

// messageOf returns the dequeued message that an argument of a call is a part of, or nil.
func (c *check) messageOf(call *ast.CallExpr) types.Object {
	for _, arg := range call.Args {
		if v := c.Object(source.Root(arg)); v != nil && strings.Contains(v.Type().String(), "Dequeue") {
			return v
		}
	}
	return nil
}

// worksOn reports whether statements call a function with the message or with something made of it. Calls that only decode or
// log are no work.
func (c *check) worksOn(list []ast.Stmt, deletion *ast.CallExpr, derived map[types.Object]bool) bool {
	return slices.ContainsFunc(list, func(s ast.Stmt) bool {
		return source.Any(s, func(call *ast.CallExpr) bool {
			if call == deletion || c.Logs(call) || c.pass.TypesInfo.Types[call.Fun].IsType() || c.pass.TypesInfo.Types[call.Fun].IsBuiltin() {
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
