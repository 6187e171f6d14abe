package rules

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// repeats reports attempts that write a second time what an attempt before has written, and attempts without end.
var repeats = &Rule{Name: "repeats", Severity: Error, run: every(newKeys,
	each(source.Blobs, "AppendBlock", "an attempt whose reply is lost has appended the block, and the next one appends it again; set AppendPosition", func(c *check, call *source.Call) bool {
		return c.attempt(call) != nil && c.open(call.Arg(2), "AppendPosition")
	}),
	func(c *check) {
		for _, call := range c.AllCalls() {
			loop, ok := c.Loop(call).(*ast.ForStmt)
			if !ok || loop.Cond != nil || c.isTest(call) || !c.FactOf(call).Writes || c.FactOf(call).Deletes || !c.testsError(loop) {
				continue
			}
			counts := source.Any(loop, func(b *ast.BinaryExpr) bool {
				return b.Op == token.GTR || b.Op == token.GEQ || b.Op == token.LSS || b.Op == token.LEQ
			})
			_, err, stmt := c.Results(call)
			ends := err == nil || source.Any(loop, func(ret *ast.ReturnStmt) bool { return ret.Pos() > stmt.Pos() && c.Mentions(ret, err) })
			if !counts && !ends && !c.uses(loop, "ResponseError", "HasCode", "StatusCode", "ErrorCode") {
				c.report(call, "a request that the service refuses is repeated for ever; repeat only after errors that pass, such as 429 and 5xx, and return the others (azpatterns: the SDK has done that already)")
			}
		}
	},
)}

// testsError reports whether a loop is left if an error is nil.
func (c *check) testsError(loop ast.Stmt) bool {
	return source.Any(loop, func(s *ast.IfStmt) bool {
		b, ok := s.Cond.(*ast.BinaryExpr)
		return ok && b.Op == token.EQL && c.IsNil(b.Y) && source.IsError(c.TypeOf(b.X)) && source.Terminates(s.Body.List)
	})
}

// newKeys reports keys that are new in each attempt: in a loop that repeats a write, and in the work with a message.
func newKeys(c *check) {
	for _, k := range c.keys() {
		decl := c.Decl(k.expr)
		if k.partition || !k.written || decl == nil || c.isTest(k.expr) || !c.isNew(k.expr) {
			continue
		}
		again := c.attempt(k.expr)
		if again != nil && source.Within(again, c.Follow(k.expr)) && c.writesIn(again) {
			c.report(k.expr, "each attempt writes a row with another key, so an attempt whose reply was lost leaves a second row; choose the key before the loop, and take a conflict for success")
		} else if c.handlesMessage(decl) && c.writesIn(decl) {
			c.report(k.expr, "a message can arrive twice, and each time this writes another row; make the key of what the message contains (azpatterns: eventual.NewWorker)")
		}
	}
}

// isNew reports whether a key is made of random numbers or the time, and of nothing else.
func (c *check) isNew(key ast.Expr) bool {
	isNew := false
	for _, part := range c.parts(key, 4) {
		if part.Hole == nil {
			continue
		}
		call, _ := c.Follow(part.Hole).(*ast.CallExpr)
		_, name, _ := c.clock(part.Hole)
		random := call != nil && c.imports(call, "rand", "uuid", "/xid", "/ulid", "ksuid")
		if call != nil {
			_, decl := c.DeclOf(call)
			random = random || decl != nil && len(call.Args) == 0 && c.imports(decl, "rand", "uuid", "/xid", "/ulid", "ksuid")
		}
		if isNew = random || name == "Now"; !isNew {
			return false
		}
	}
	return isNew
}

// writesIn reports whether n writes rows.
func (c *check) writesIn(n ast.Node) bool {
	return source.Any(n, func(call *ast.CallExpr) bool { return c.FactOf(call).Writes && !c.FactOf(call).Deletes })
}

// handlesMessage reports whether a function has a message as a parameter.
func (c *check) handlesMessage(decl *ast.FuncDecl) bool {
	for v := range c.signature(decl).Params().Variables() {
		if path, name := source.NameOf(v.Type()); source.IsSDK(path) && strings.Contains(name, "DequeuedMessage") {
			return true
		}
	}
	return false
}
