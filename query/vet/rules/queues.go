package rules

import (
	"go/ast"
	"go/token"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// polling reports loops that ask a queue again without a pause if it is empty.
var polling = &Rule{Name: "polling", Severity: Warning, run: func(c *check) {
	for call := range c.CallsOf(source.Queues, "DequeueMessage") {
		loop, ok := c.Loop(call).(*ast.ForStmt)
		if ok && loop.Post == nil && !c.pauses(loop) {
			c.report(call, "an empty queue is asked again without a pause, and each request is paid for; wait after an empty reply, longer each time (azpatterns: eventual.NewWorker)")
		}
	}
}}

// pauses reports whether a loop waits, or ends if there is no message.
func (c *check) pauses(loop *ast.ForStmt) bool {
	return source.Any(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			return n.Op == token.ARROW
		case *ast.SelectStmt:
			return true
		case *ast.IfStmt:
			b, ok := n.Cond.(*ast.BinaryExpr)
			leaves := source.Any(n.Body, func(s ast.Stmt) bool {
				branch, ok := s.(*ast.BranchStmt)
				_, returns := s.(*ast.ReturnStmt)
				return returns || ok && branch.Tok == token.BREAK
			})
			return ok && leaves && c.lenOf(b.X) != nil
		case *ast.CallExpr:
			path, name := c.Callee(n)
			name = strings.ToLower(name)
			return path == "time" && !strings.HasPrefix(name, "time.") && name != "now" && name != "since" ||
				strings.Contains(name, "sleep") || strings.Contains(name, "wait") || strings.Contains(name, "backoff") || strings.Contains(name, "pause")
		}
		return false
	})
}

// poison reports workers that try a message for ever.
var poison = &Rule{Name: "poison", Severity: Warning, run: func(c *check) {
	deletes := false
	for call := range c.AllCalls() {
		deletes = deletes || c.Deletes(call)
	}
	counts := source.AnyIn(c.Package, func(id *ast.Ident) bool { return strings.Contains(id.Name, "DequeueCount") })
	for call := range c.CallsOf(source.Queues, "DequeueMessage") {
		if deletes && !counts && !c.isTest(call) {
			c.report(call, "a message whose work always fails is delivered again until it expires; look at DequeueCount, and move the message to another queue after a few tries (azpatterns: eventual.NewWorker)")
			return
		}
	}
}}

// visibility reports messages that become visible again before the work with them ends.
var visibility = &Rule{Name: "visibility", Severity: Error, run: func(c *check) {
	for call := range c.CallsOf(source.Queues, "DequeueMessage") {
		hidden := 30 * time.Second
		if set := c.Field(c.Literal(call.Arg(1)), "VisibilityTimeout"); set != nil {
			seconds, ok := c.ConstInt(c.Resolve(set))
			if !ok {
				continue
			}
			hidden = time.Duration(seconds) * time.Second
		} else if c.Literal(call.Arg(1)) == nil && !c.IsNil(call.Arg(1)) {
			continue
		}
		renews := source.AnyIn(c.Package, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "UpdateMessage" })
		if at := c.longer(c.Decl(call), hidden, 2); at != nil && !renews {
			c.report(call, "a message is hidden for "+hidden.String()+", and the work with it may take longer, so another worker gets it too; hide it for longer, or renew it with UpdateMessage (azpatterns: eventual.NewWorker)")
		}
	}
}}

// longer returns a call in a function, or in those of the package that it calls, that may take longer than d.
func (c *check) longer(decl *ast.FuncDecl, d time.Duration, depth int) (found ast.Node) {
	if decl == nil || depth < 0 {
		return nil
	}
	for call := range source.All[*ast.CallExpr](decl.Body) {
		path, name := c.Callee(call)
		limit := path == "context" && name == "WithTimeout" || path == "time" && name == "Sleep"
		if limit && len(call.Args) > 0 {
			if n, ok := c.ConstInt(call.Args[len(call.Args)-1]); ok && time.Duration(n) > d {
				return call
			}
		} else if _, callee := c.DeclOf(call); callee != nil && callee != decl {
			if found = c.longer(callee, d, depth-1); found != nil {
				return found
			}
		}
	}
	return nil
}
