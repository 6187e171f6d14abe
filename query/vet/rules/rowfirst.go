package rules

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// rowFirst reports messages and blobs that follow the row which needs them: if the process ends in between, they are missing.
var rowFirst = &Rule{Name: "rowfirst", Severity: Warning, run: func(c *check) {
	for _, call := range c.AllCalls() {
		decl := c.Decl(call)
		if decl == nil || c.isTest(call) || c.handlesMessage(decl) || c.uses(decl, "DequeueMessage") || c.apart(call) || !c.passesError(call) {
			continue
		}
		message := "if the process ends before this message is sent, no one learns of the row; send the message first, and let its receiver wait for the row (azpatterns: Store with an outbox)"
		switch {
		case c.makes(call, "EnqueueMessage"):
		case c.makes(call, "UploadBuffer", "UploadStream", "UploadFile"):
			message = "if this upload fails, the row that was written before refers to a blob that does not exist; upload first (azpatterns: package largeentity)"
		default:
			continue
		}
		row := c.rowBefore(call)
		if row != nil && c.share(c.rowOf(row), c.made(append(call.Args[:len(call.Args):len(call.Args)], call.Fun), 0)) && !slices.ContainsFunc(c.AllCalls(), func(first *ast.CallExpr) bool { // one more message before the row
			return first.Pos() < row.Pos() && c.Decl(first) == decl && c.makes(first, "EnqueueMessage", "UploadBuffer", "UploadStream", "UploadFile")
		}) {
			c.report(call, message)
		}
	}
}}

// rowOf returns the variables that the row of a call is known by: those of its keys or, if they are not known, all that it is made of.
func (c *check) rowOf(call *ast.CallExpr) map[types.Object]bool {
	for _, arg := range call.Args {
		if lit, _ := c.entity(arg); lit != nil && c.Field(lit, "RowKey") != nil {
			return c.made([]ast.Expr{c.Field(lit, "PartitionKey"), c.Field(lit, "RowKey")}, 0)
		}
	}
	return c.made(call.Args, 0)
}

// made returns the variables that values are made of, apart from contexts.
func (c *check) made(values []ast.Expr, depth int) map[types.Object]bool {
	all := map[types.Object]bool{}
	for _, e := range values {
		for id := range source.All[*ast.Ident](e) {
			v, ok := c.pass.TypesInfo.Uses[id].(*types.Var)
			if !ok || v.IsField() || source.IsNamed(v.Type(), "context", "Context") {
				continue
			}
			all[v] = true
			if value := c.Follow(id); depth < 3 && value != ast.Expr(id) {
				maps.Copy(all, c.made([]ast.Expr{value}, depth+1))
			}
		}
	}
	return all
}

func (c *check) share(a, b map[types.Object]bool) bool {
	for v := range a {
		if b[v] {
			return true
		}
	}
	return false
}

// apart reports whether a call is made in a goroutine, at the end of its function, or in a function literal.
func (c *check) apart(call *ast.CallExpr) bool {
	return source.Around[*ast.GoStmt](c.Package, call) != nil || source.Around[*ast.DeferStmt](c.Package, call) != nil || source.Around[*ast.FuncLit](c.Package, call) != nil
}

// passesError reports whether the function of a call returns the error of it: otherwise something else may repair what is missing.
func (c *check) passesError(call *ast.CallExpr) bool {
	err, dropped := c.ErrorOf(call)
	body, fn := c.Body(call)
	if dropped || c.returnsError(fn) == nil {
		return false
	}
	_, returned := c.Parent(call).(*ast.ReturnStmt)
	return returned || err != nil && source.Any(body, func(ret *ast.ReturnStmt) bool { return ret.Pos() > call.Pos() && c.Mentions(ret, err) })
}

// makes reports whether a call is one of the SDK with one of the names, or of a function of the package that makes one and writes no row.
func (c *check) makes(call *ast.CallExpr, names ...string) bool {
	if c.CallOf(call) != nil {
		return c.IsCall(call, names...)
	}
	_, decl := c.DeclOf(call)
	return decl != nil && decl.Body != nil && !source.Any(decl.Body, c.writesRow) && source.Any(decl.Body, func(inner *ast.CallExpr) bool { return c.IsCall(inner, names...) })
}

// writesRow reports whether a call is one of the SDK that stores a row.
func (c *check) writesRow(call *ast.CallExpr) bool {
	return c.IsCall(call, "AddEntity", "UpsertEntity", "UpdateEntity")
}

// rowBefore returns the call before another one in its function, not in a branch, that stores a row, perhaps by a function of the package.
func (c *check) rowBefore(call *ast.CallExpr) (row *ast.CallExpr) {
	for _, before := range c.AllCalls() {
		if before.Pos() >= call.Pos() || c.Decl(before) != c.Decl(call) || c.apart(before) || c.Loop(before) != c.Loop(call) || c.leavesAfter(before, call) || c.Conditional(before) != c.Conditional(call) {
			continue
		}
		_, decl := c.DeclOf(before)
		if c.writesRow(before) || decl != nil && decl.Body != nil && c.CallOf(before) == nil && source.Any(decl.Body, c.writesRow) && !source.Any(decl.Body, func(inner *ast.CallExpr) bool { return c.IsCall(inner, "EnqueueMessage") }) {
			row = before
		}
	}
	return row
}
