package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

const blobWrites = "UploadBuffer UploadStream UploadFile Upload SetMetadata SetHTTPHeaders CommitBlockList AppendBlock"

// checkFirst reports writes that overwrite what another process has written since the program looked whether it exists.
var checkFirst = &Rule{Name: "checkfirst", Severity: Error, run: every(
	func(c *check) {
		for _, call := range c.AllCalls() {
			decl := c.Decl(call)
			if decl == nil || c.isTest(call) || !c.FactOf(call).Overwrites || c.IsCall(call, "UpdateEntity") {
				continue
			}
			if source.Any(decl.Body, func(look *ast.CallExpr) bool {
				return look.Pos() < call.Pos() && (c.FactOf(look).Reads || c.IsCall(look, "GetProperties")) && c.sameClient(look, call) && c.onlyLooks(look) && !c.leavesAfter(look, call)
			}) {
				c.report(call, "another process can write between the look whether this exists and the write, which overwrites it; write only if it does not exist, with AddEntity or IfNoneMatch, and handle the conflict (azpatterns: Table.Insert)")
			}
		}
	},
	each(source.Blobs, "Create", "this empties an append blob that exists, with all that others have appended; create it with IfNoneMatch set to azcore.ETagAny", func(c *check, call *source.Call) bool {
		path, name := source.NameOf(c.TypeOf(call.Recv))
		return name == "Client" && strings.HasSuffix(path, "/appendblob") && c.another(call, false, "Delete") == nil && c.open(call.Arg(1), "IfNoneMatch", "LeaseID", "IfMatch")
	}),
)}

// onlyLooks reports whether nothing of what a call reads is used but whether it exists, and the function ends if it does: the reply is
// dropped, or is a bool.
func (c *check) onlyLooks(call *ast.CallExpr) bool {
	reply, err, stmt := c.Results(call)
	t := c.TypeOf(call)
	if results, ok := t.(*types.Tuple); ok && results.Len() > 0 {
		t = results.At(0).Type()
	}
	isBool := source.IsBasic(t, types.IsBoolean)
	test := source.Around[*ast.IfStmt](c.Package, call)
	if stmt != nil {
		next := c.after(stmt)
		test, _ = append(next, nil)[0].(*ast.IfStmt)
	}
	return test != nil && source.Terminates(test.Body.List) && (isBool || stmt != nil && reply == nil && c.failure(call, err) == nil)
}

// open reports whether options are known and contain none of the names.
func (c *check) open(options ast.Expr, names ...string) bool {
	lit := c.Literal(options)
	return options != nil && (c.IsNil(options) || lit != nil && !c.uses(lit, names...))
}

// stale reports versions that a request can no longer have: of a lease, a message or an entity that has changed since.
var stale = &Rule{Name: "stale", Severity: Error, run: every(
	each(source.Blobs, blobWrites+" Delete", "a blob with a lease refuses a write that does not name the lease; set LeaseAccessConditions", func(c *check, call *source.Call) bool {
		leased := c.another(call, false, "AcquireLease")
		released := c.another(call, false, "ReleaseLease", "BreakLease")
		return leased != nil && (released == nil || source.Around[*ast.DeferStmt](c.Package, released) != nil) && c.open(call.Arg(len(call.Args)-1), "LeaseID", "LeaseAccessConditions") && c.leases(leased, call)
	}),
	each(source.Queues, "DeleteMessage UpdateMessage", "UpdateMessage returns a new receipt, and the service refuses the old one; use that of the reply", func(c *check, call *source.Call) bool {
		updated := c.another(call, false, "UpdateMessage")
		old := source.Any(call.Arg(2), func(sel *ast.SelectorExpr) bool {
			_, name := source.NameOf(c.TypeOf(sel.X))
			return sel.Sel.Name == "PopReceipt" && strings.Contains(name, "Message") && !strings.Contains(name, "Update") && !c.setsField(sel.X, "PopReceipt")
		})
		return updated != nil && old && !c.leavesAfter(updated, call) && c.Same(updated.Recv, call.Recv)
	}),
	each(source.Queues, "UpdateMessage", "the new receipt is dropped, and the service refuses the old one, which later calls have; store that of the reply", func(c *check, call *source.Call) bool {
		reply, _, stmt := c.Results(call.CallExpr)
		field, _ := source.Selected(call.Arg(2))
		if stmt == nil || reply != nil || field == nil || c.Object(stmt.Lhs[0]) != nil || strings.Contains(c.TypeOf(field).String(), "edMessage") {
			return false
		}
		for later := range c.CallsOf(source.Queues, "DeleteMessage", "UpdateMessage") {
			if later != call && c.sameField(later.Arg(2), call.Arg(2)) && !slices.ContainsFunc(c.Set, func(set source.Setting) bool {
				_, assigns := set.At.(*ast.AssignStmt)
				return assigns && set.Name == exprName(call.Arg(2))
			}) {
				return true
			}
		}
		return false
	}),
	each(source.Queues, "UpdateMessage", "the new receipt is dropped, and the service refuses the old one, which a later call has; store that of the reply", func(c *check, call *source.Call) bool {
		reply, _, _ := c.Results(call.CallExpr)
		receipt := c.Object(call.Arg(2))
		if receipt == nil || reply != nil && source.Any(c.Decl(call), func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "PopReceipt" && c.Object(sel.X) == reply }) {
			return false
		}
		body, _ := c.Body(call)
		for later := range c.CallsOf(source.Queues, "DeleteMessage", "UpdateMessage") {
			if inner, _ := c.Body(later); inner == body && c.Object(later.Arg(2)) == receipt && (later.Pos() > call.Pos() && !c.leavesAfter(call, later) || later == call && c.Loop(call) != nil && !source.Within(c.Loop(call), c.Definition(receipt))) {
				return !source.Any(body, func(s *ast.AssignStmt) bool { return s.Pos() > call.Pos() && c.Sets(s, receipt) })
			}
		}
		return false
	}),
	each(source.Tables, "UpdateEntity", "this sends the old content with the ETag of a new read, which overwrites what others wrote since then; read and change the entity in each round (azpatterns: Table.Update)", func(c *check, call *source.Call) bool {
		match := c.Object(source.Root(c.Field(c.Literal(call.Arg(2)), "IfMatch")))
		return c.Loop(call) != nil && match != nil && source.Any(c.Loop(call), func(s *ast.AssignStmt) bool {
			read, ok := s.Rhs[0].(*ast.CallExpr)
			first, isIdent := s.Lhs[0].(*ast.Ident)
			return ok && isIdent && first.Name == "_" && c.Sets(s, match) && c.FactOf(read).Reads
		})
	}),
	each(source.Tables, "UpdateEntity DeleteEntity", "the ETag was read before the loop, so once it does not match it never will; read the entity again in each round (azpatterns: Table.Update)", func(c *check, call *source.Call) bool {
		loop := c.attempt(call)
		match := c.Field(c.Literal(call.Arg(len(call.Args)-1)), "IfMatch")
		v := c.Object(source.Root(match))
		def := c.Definition(v)
		return loop != nil && def != nil && !source.Within(loop, def) && !source.Any(loop, func(s *ast.AssignStmt) bool { return c.Sets(s, v) })
	}),
	conflicts,
)}

// leases reports whether the client of a lease is made of that of a write.
func (c *check) leases(leased, write *source.Call) bool {
	created, ok := c.Follow(leased.Recv).(*ast.CallExpr)
	return ok && slices.ContainsFunc(created.Args, func(arg ast.Expr) bool { return c.Same(arg, write.Recv) })
}

// leavesAfter reports whether a call is in a branch that is left before another one.
func (c *check) leavesAfter(call, other ast.Node) bool {
	for n := range c.Ancestors(call) {
		if block, ok := n.(*ast.BlockStmt); ok && !source.Within(block, other) && source.Terminates(block.List) {
			_, isLoop := c.Parent(block).(*ast.RangeStmt)
			_, isFor := c.Parent(block).(*ast.ForStmt)
			return !isLoop && !isFor
		}
	}
	return false
}

// conflicts reports refused changes that count as made.
func conflicts(c *check) {
	for call := range c.CallsOf(source.Tables, "UpdateEntity") {
		_, err, stmt := c.Results(call.CallExpr)
		if err == nil || c.isTest(call) {
			continue
		}
		for _, t := range c.tests(stmt, err, refusals[call.Name]) {
			if n := len(t.body); t.refused && n > 0 && !slices.ContainsFunc(t.body, func(s ast.Stmt) bool { return source.Any(s, c.readsEntity) }) {
				if ret, ok := t.body[n-1].(*ast.ReturnStmt); ok && len(ret.Results) == 1 && c.IsNil(ret.Results[0]) {
					c.report(t.cond, "412 means that another process has changed the row, and this change was not made; read the row and decide again (azpatterns: Table.Update)")
				}
			}
		}
	}
}

// moved reports data that are deleted before they are safe elsewhere, or while something refers to them.
var moved = &Rule{Name: "moved", Severity: Error, run: every(
	func(c *check) {
		for _, call := range c.AllCalls() {
			decl := c.Decl(call)
			if decl == nil || c.isTest(call) || !c.FactOf(call).Removes {
				continue
			}
			replies := c.replies(decl)
			from, _ := source.Selected(call.Fun)
			if source.Any(decl.Body, func(later *ast.CallExpr) bool {
				to, _ := source.Selected(later.Fun)
				f := c.FactOf(later)
				return later.Pos() > call.Pos() && f.Writes && !f.Removes && !f.Deletes && !c.leavesAfter(call, later) && c.Loop(later) == c.Loop(call) && (!c.Same(from, to) || c.setsKey(decl, replies) || c.IsCall(call, "DeleteEntity") && c.IsCall(later, "AddEntity")) &&
					slices.ContainsFunc(later.Args[min(1, len(later.Args)):], func(arg ast.Expr) bool { return c.MentionsAny(arg, replies) })
			}) {
				c.report(call, "what is deleted here is written elsewhere only afterwards: if the process ends in between, it is lost; write first, and make both repeatable (azpatterns: package move)")
			}
		}
	},
	each(source.Blobs, "Delete DeleteBlob", "the row refers to this blob until it is deleted too; delete the row first (azpatterns: package largeentity)", func(c *check, call *source.Call) bool {
		row := c.another(call, true, "DeleteEntity")
		return row != nil && c.another(call, false, "GetEntity") != nil && c.MentionsAny(call.CallExpr, c.replies(c.Decl(call))) && !c.leavesAfter(call, row)
	}),
	func(c *check) {
		for _, call := range c.AllCalls() {
			_, deletes := c.DeclOf(call)
			row := func(later *ast.CallExpr) bool {
				return later.Pos() > call.Pos() && c.CallOf(later) == nil && c.makes(later, "DeleteEntity") && !c.leavesAfter(call, later) && c.Loop(later) == c.Loop(call)
			}
			if decl := c.Decl(call); decl != nil && deletes != nil && c.CallOf(call) == nil && c.deletesBlob(deletes) && !c.isTest(call) && source.Any(decl.Body, row) {
				c.report(call, "the row refers to this blob until it is deleted too; delete the row first (azpatterns: package largeentity)")
			}
		}
	},
	each(source.Blobs, "Delete DeleteBlob", "the copy was only started, and can fail after the original is deleted; wait until CopyStatus is success", func(c *check, call *source.Call) bool {
		started := c.another(call, false, "StartCopyFromURL")
		if started != nil {
			return !c.Same(started.Recv, call.Recv) && !c.uses(c.Decl(call), "CopyStatus")
		}
		waits := source.AnyIn(c.Package, func(id *ast.Ident) bool {
			return id.Name == "CopyStatusTypeSuccess" || id.Name == "CopyStatusTypePending"
		})
		return !waits && source.Any(c.Decl(call).Body, func(before *ast.CallExpr) bool { // in a function of the package
			_, decl := c.DeclOf(before)
			return before.Pos() < call.Pos() && decl != nil && c.uses(decl, "StartCopyFromURL") && slices.ContainsFunc(before.Args, func(arg ast.Expr) bool { return c.Same(arg, call.Recv) })
		})
	}),
)}

// deletesBlob reports whether a function deletes a blob and no row.
func (c *check) deletesBlob(decl *ast.FuncDecl) bool {
	return source.Any(decl.Body, func(call *ast.CallExpr) bool {
		return c.IsCall(call, "Delete", "DeleteBlob") && c.CallOf(call).Path == source.Blobs
	}) && !source.Any(decl.Body, func(call *ast.CallExpr) bool { return c.IsCall(call, "DeleteEntity") })
}

// parallel reports goroutines whose number nothing limits.
var parallel = &Rule{Name: "parallel", Severity: Warning, run: func(c *check) {
	for _, p := range c.nextPages() {
		for n := range c.Ancestors(p.call) {
			if def := c.Definition(c.Object(p.pager)); c.starts(n) && c.Loop(n) != nil && def != nil && !source.Within(c.Loop(n), def) && !c.uses(n, "Lock") {
				c.report(p.call, "several goroutines use one pager, which is not safe for that, so pages are repeated or skipped; read the pages in one goroutine, and pass their rows on (azpatterns: Table.Query)")
			}
		}
	}
	for s := range nodes(c, func(s ast.Node) bool { return c.starts(s) && !c.isTest(s) }) {
		loop, ok := c.Loop(s).(*ast.RangeStmt)
		if !ok || c.Literal(loop.X) != nil || source.IsBasic(c.TypeOf(loop.X), types.IsInteger) {
			continue
		}
		requests := source.Any(s, func(call *ast.CallExpr) bool {
			f := c.FactOf(call)
			return f.Reads || f.Writes || f.Deletes || f.Rows
		})
		limited := source.Any(ast.Node(loop), func(n ast.Node) bool {
			_, sends := n.(*ast.SendStmt)
			receive, ok := n.(*ast.UnaryExpr)
			return sends || ok && receive.Op == token.ARROW && !source.Within(s, receive)
		}) || c.uses(loop, "Acquire", "Wait") || c.uses(c.Decl(s), "SetLimit") || c.Loop(loop) != nil && c.uses(c.Loop(loop), "Wait")
		_, messages := source.Selected(loop.X)
		if chunk, ok := loop.X.(*ast.CallExpr); ok && nameOfCall(chunk) == "Chunk" || messages == "Messages" && c.Loop(loop) == nil {
			continue
		}
		if requests && !limited {
			c.report(s, "this starts a goroutine with a request for each element, any number concurrently; limit them, for example with errgroup and SetLimit (azpatterns: Table.Query and Table.Bulk have the option Parallel)")
		}
	}
}}

// starts reports whether n starts a goroutine: a go statement, or a call such as group.Go(func() { … }).
func (c *check) starts(n ast.Node) bool {
	_, isGo := n.(*ast.GoStmt)
	call, isCall := n.(*ast.CallExpr)
	if !isCall || len(call.Args) != 1 || nameOfCall(call) != "Go" {
		return isGo
	}
	_, isLit := call.Args[0].(*ast.FuncLit)
	return isLit
}

// requests reports whether n, or a function of the package that it calls, makes a request.
func (c *check) requests(n ast.Node) bool {
	return source.Any(n, func(call *ast.CallExpr) bool {
		_, decl := c.DeclOf(call)
		return c.CallOf(call) != nil && c.CallOf(call).Recv != nil || decl != nil && source.Any(decl.Body, func(inner *ast.CallExpr) bool { return c.CallOf(inner) != nil && c.CallOf(inner).Recv != nil })
	})
}

// background reports requests in a handler, or in a function with a context, that nothing can end.
var background = &Rule{Name: "background", Severity: Warning, run: func(c *check) {
	for s := range nodes(c, func(s ast.Node) bool { return c.starts(s) && !c.isTest(s) }) {
		body, _ := c.Body(s)
		waits := c.uses(body, "Wait") || source.Any(body, func(e *ast.UnaryExpr) bool { return e.Op == token.ARROW && !source.Within(s, e) })
		if !waits && c.requests(s) && source.Any(s, func(e ast.Expr) bool {
			made, ok := c.Follow(e).(*ast.CallExpr)
			path, name := "", ""
			if ok {
				path, name = c.Callee(made)
			}
			return path == "net/http" && name == "Request.Context"
		}) {
			c.report(s, "the context of the request ends when the handler returns, and with it the request that this goroutine makes; use context.WithoutCancel of it with a timeout, or wait")
		}
	}
	for _, call := range c.AllCalls() {
		decl := c.Decl(call)
		if _, callee := c.DeclOf(call); c.CallOf(call) == nil && (callee == nil || !c.requests(callee.Body)) {
			continue
		}
		if len(call.Args) == 0 || decl == nil || c.isTest(call) || source.Around[*ast.GoStmt](c.Package, call) != nil || source.Around[*ast.DeferStmt](c.Package, call) != nil || source.Around[*ast.CommClause](c.Package, call) != nil {
			continue
		}
		detached := source.Any(c.Follow(call.Args[0]), func(made *ast.CallExpr) bool {
			path, name := c.Callee(made)
			return path == "context" && (name == "Background" || name == "TODO")
		})
		_, timeout := c.Follow(call.Args[0]).(*ast.CallExpr)
		has := false
		for v := range c.signature(decl).Params().Variables() {
			has = has || source.IsNamed(v.Type(), "context", "Context") && v.Name() != "_" && v.Name() != ""
		}
		if detached && timeout && (c.handlesRequest(call) || has) && c.first(decl) {
			c.report(call.Args[0], "this request goes on after the caller has left or the deadline has passed; pass the context of the caller, or context.WithoutCancel of it with a timeout")
		}
	}
}}
