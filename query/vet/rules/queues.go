package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// polling reports loops that ask a queue again without a pause if it is empty.
var polling = &Rule{Name: "polling", Severity: Warning, run: func(c *check) {
	for call := range c.CallsOf(source.Queues, "DequeueMessage") {
		loop, ok := c.Loop(call).(*ast.ForStmt)
		if ok && loop.Post == nil && !c.pauses(loop.Body, 1) {
			c.report(call, "an empty queue is asked again without a pause, and each request is paid for; wait after an empty reply, longer each time (azpatterns: eventual.NewWorker)")
		} else if ok && loop.Post == nil && c.spins(call, loop) {
			c.report(call, "a request that failed is sent again without a pause; wait after an error, longer each time (azpatterns: eventual.NewWorker)")
		}
	}
	for element := range nodes(c, func(e *ast.IndexExpr) bool { return strings.HasSuffix(c.TypeOf(e).String(), "edMessage") }) {
		n, ok := c.ConstInt(element.Index)
		body, _ := c.Body(element)
		if _, name := source.Selected(c.Follow(element.X)); ok && n == 0 && name == "Messages" && !c.isTest(element) && !source.Any(body, func(call *ast.CallExpr) bool {
			return c.Same(c.Follow(c.lenOf(call)), c.Follow(element.X))
		}) {
			c.report(element, "an empty queue returns no message, and then this panics; look at the number of messages first (azpatterns: eventual.NewWorker)")
		}
	}
	for loop := range nodes(c, func(loop *ast.ForStmt) bool { return loop.Cond != nil }) {
		decl := c.Decl(loop)
		left := ast.Node(loop.Cond)
		if loop.Init != nil {
			left = loop.Init
		}
		if decl != nil && (c.uses(loop.Cond, "ApproximateMessages") || c.uses(left, "ApproximateMessages")) {
			c.report(loop.Cond, "the number of messages is approximate, and others can take or add some, so this loop can end too early or never; end after several empty replies (azpatterns: eventual.NewWorker)")
		}
	}
}}

// spins reports whether a loop continues after an error without a pause.
func (c *check) spins(call *source.Call, loop *ast.ForStmt) bool {
	_, err, _ := c.Results(call.CallExpr)
	if err == nil || slices.ContainsFunc(loop.Body.List, func(s ast.Stmt) bool {
		_, isIf := s.(*ast.IfStmt)
		return !isIf && c.pauses(&ast.BlockStmt{List: []ast.Stmt{s}}, 1)
	}) {
		return false
	}
	test := c.failure(call.CallExpr, err)
	if test == nil || len(test.Body.List) == 0 {
		return false
	}
	last, ok := test.Body.List[len(test.Body.List)-1].(*ast.BranchStmt)
	return ok && last.Tok == token.CONTINUE && !c.pauses(test.Body, 1)
}

// pauses reports whether the body of a loop, or a function of the package that it calls, waits, or ends if there is no message.
func (c *check) pauses(body *ast.BlockStmt, depth int) bool {
	return source.Any(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			around := source.Around[*ast.SelectStmt](c.Package, n)
			return n.Op == token.ARROW && (around == nil || !source.Any(around, func(clause *ast.CommClause) bool { return clause.Comm == nil }))
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
			if _, decl := c.DeclOf(n); decl != nil && depth > 0 && !c.uses(decl, "DequeueMessage") && c.pauses(decl.Body, depth-1) {
				return true
			}
			return path == "time" && !strings.HasPrefix(name, "time.") && name != "now" && name != "since" ||
				strings.Contains(name, "sleep") || strings.Contains(name, "wait") || strings.Contains(name, "backoff") || strings.Contains(name, "pause")
		}
		return false
	})
}

// poison reports workers that try a message for ever.
var poison = &Rule{Name: "poison", Severity: Warning, run: func(c *check) {
	deletes := false
	for _, call := range c.AllCalls() {
		deletes = deletes || c.FactOf(call).Deletes
	}
	counts := source.AnyIn(c.Package, func(id *ast.Ident) bool { return strings.Contains(id.Name, "DequeueCount") })
	for call := range c.CallsOf(source.Queues, "DequeueMessage") {
		if deletes && !counts && !c.isTest(call) {
			c.report(call, "a message whose work always fails is delivered again until it expires; look at DequeueCount, and move the message to another queue after a few tries (azpatterns: eventual.NewWorker)")
			break
		}
	}
	for call := range c.CallsOf(source.Queues, "DequeueMessage") {
		reply, _, stmt := c.Results(call.CallExpr)
		if body, _ := c.Body(call); reply != nil && !deletes && !c.isTest(call) && c.worksOn(c.after(stmt), call.CallExpr, c.Derived(body, reply)) && !c.handsOn(body, c.Derived(body, reply)) {
			c.report(call, "the messages are never deleted, so each is delivered again and again; delete a message after the work (azpatterns: eventual.NewWorker)")
		}
	}
	receives := source.AnyIn(c.Package, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "MessageText" })
	decodes := source.AnyIn(c.Package, func(id *ast.Ident) bool {
		return id.Name == "DecodeString" || id.Name == "NewDecoder" || id.Name == "Decode"
	})
	for call := range c.CallsOf(source.Queues, "EnqueueMessage") {
		if text, ok := c.Follow(call.Arg(1)).(*ast.CallExpr); ok && nameOfCall(text) == "EncodeToString" && receives && !decodes {
			c.report(call, "the text is encoded with base64 here, and nothing in the package decodes what is received; do both or none")
		}
	}
	for call := range c.CallsOf(source.Queues, "PeekMessage") {
		reply, _, stmt := c.Results(call.CallExpr)
		if body, _ := c.Body(call); reply != nil && !c.isTest(call) && !c.uses(body, "DequeueMessage") && c.worksOn(c.after(stmt), call.CallExpr, c.Derived(body, reply)) {
			c.report(call, "a message that is peeked at stays visible, so other workers and the next call do its work again; dequeue it, and delete it after the work (azpatterns: eventual.NewWorker)")
		}
	}
}}

// handsOn reports whether a function returns one of the variables, passes one as a whole to another function, or uses the receipt of one.
func (c *check) handsOn(body *ast.BlockStmt, vars map[types.Object]bool) bool {
	return source.Any(body, func(id *ast.Ident) bool {
		switch parent := c.Parent(id).(type) {
		case *ast.SelectorExpr:
			return vars[c.Object(id)] && strings.Contains(parent.Sel.Name, "Receipt")
		case *ast.ReturnStmt, *ast.CallExpr, *ast.CompositeLit, *ast.SendStmt:
			return vars[c.Object(id)] && strings.Contains(c.TypeOf(id).String(), "Message")
		}
		return false
	})
}

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
		n, ok := c.number(c.Field(c.Literal(call.Arg(1)), "NumberOfMessages"))
		if ok && n > 1 && source.Any(ast.Node(c.Decl(call)), c.starts) {
			n = 1
		}
		renews := source.AnyIn(c.Package, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "UpdateMessage" })
		if at := c.longer(c.Decl(call), hidden/time.Duration(max(n, 1)), 2); at != nil && !renews {
			c.report(call, "a message is hidden for "+hidden.String()+", and the work with it may take longer, that with all that are received if they are several, so another worker gets it too; hide it for longer, or renew it with UpdateMessage (azpatterns: eventual.NewWorker)")
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

// deleteFirst reports queue messages that are deleted before the work that they ask for is done.
var deleteFirst = &Rule{Name: "deletefirst", Severity: Error, run: func(c *check) {
	for _, call := range c.AllCalls() {
		list, i := c.Statement(call)
		body, _ := c.Body(call)
		message := c.messageOf(call)
		if _, fn := c.Body(call); c.FactOf(call).Deletes && c.ignoresResult(fn, body) {
			c.report(call, "this function receives the result of the work and deletes the message even if that is an error; delete it only without an error (azpatterns: eventual.NewWorker)")
			continue
		}
		if message == nil || i < 0 || !c.FactOf(call).Deletes || source.Around[*ast.GoStmt](c.Package, call) != nil {
			continue
		}
		deferred := source.Around[*ast.DeferStmt](c.Package, call)
		if deferred != nil && !source.Any(deferred, func(s *ast.IfStmt) bool { return source.Within(s.Body, call) }) {
			list, i = c.Statement(deferred)
			body, _ = c.Body(deferred)
		}
		derived := c.Derived(body, message)
		if c.failedBefore(list[:i], call, derived) {
			c.report(call, "the message is deleted even if the work failed, because its error is only logged, so the work is lost; leave the message, or move it to another queue (azpatterns: eventual.NewWorker)")
			continue
		}
		if !c.worksOn(list[:i], call, derived) && c.worksOn(list[i+1:], call, derived) {
			if deferred != nil {
				c.report(call, "a deferred call deletes the message even if the work fails, so the work is lost; delete the message after the work if that succeeded (azpatterns: eventual.NewWorker)")
				continue
			}
			c.report(call, "the message is deleted before the work is done: if the process ends in between, the work is lost; delete the message after the work, and make the work repeatable (azpatterns: eventual.NewWorker)")
		}
	}
}}

// failedBefore reports whether one of the statements only logs the error of the work with a message.
func (c *check) failedBefore(list []ast.Stmt, deletion *ast.CallExpr, derived map[types.Object]bool) bool {
	return slices.ContainsFunc(list, func(s ast.Stmt) bool {
		return source.Any(s, func(work *ast.CallExpr) bool {
			err, _ := c.ErrorOf(work)
			test := c.failure(work, err)
			return test != nil && test.Else == nil && !source.Terminates(test.Body.List) && c.onlyLogs(test.Body.List) && c.worksOn([]ast.Stmt{&ast.ExprStmt{X: work}}, deletion, derived)
		})
	})
}

// ignoresResult reports whether a function literal has an error as a parameter, and its body does not look at it.
func (c *check) ignoresResult(fn ast.Node, body *ast.BlockStmt) bool {
	_, isLit := fn.(*ast.FuncLit)
	params := slices.Collect(c.signature(fn).Params().Variables())
	return isLit && slices.ContainsFunc(params, func(v *types.Var) bool { return source.IsError(v.Type()) && !c.Mentions(body, v) })
}

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
		branch, ok := s.(*ast.IfStmt)
		if ok && source.Terminates(branch.Body.List) && s.End() < deletion.Pos() {
			s = &ast.IfStmt{Init: branch.Init, Cond: branch.Cond, Body: &ast.BlockStmt{}} // the branch leaves
		}
		return source.Any(s, func(call *ast.CallExpr) bool {
			if call == deletion || c.FactOf(call).Deletes || c.Logs(call) || c.pass.TypesInfo.Types[call.Fun].IsType() || c.pass.TypesInfo.Types[call.Fun].IsBuiltin() {
				return false
			}
			switch path, name := c.Callee(call); path {
			case "encoding/json", "encoding/base64", "encoding/xml", "fmt", "strings", "strconv", "errors":
				return false
			case source.Queues:
				return strings.HasSuffix(name, "EnqueueMessage")
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
