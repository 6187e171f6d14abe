package rules

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// dropped reports requests whose error has no effect.
var dropped = &Rule{Name: "dropped", Severity: Error, run: func(c *check) {
	for _, call := range c.AllCalls() {
		if c.isTest(call) || c.Decl(call) == nil {
			continue
		}
		err, drops := c.ErrorOf(call)
		f := c.FactOf(call)
		switch {
		case c.dropsReply(call, err, drops):
			c.report(call, "the error of reading this reply is dropped, so a reply that is broken or of another form looks like one without content; return the error (azpatterns: Table.Get decodes rows)")
		case c.repliesAnyway(call, err):
			c.report(call, "the error of this request is only logged, and the handler replies as if the change was made; reply with an error (azpatterns: the methods of Table return whether the row was written)")
		case (f.Writes || f.Creates) && !f.Deletes && c.onlyLogged(call, err):
			c.report(call, "the error of this write is only logged, and the function returns none, so the caller takes the change for made; return the error (azpatterns: Table.Bulk reports the outcome of each row)")
		}
		if ret, s := c.succeedsAnyway(call, err); ret != nil {
			if f.Reads && !c.IsCall(call, "NextPage") && len(s.Body.List) == 1 {
				c.report(ret, "any error of this read is dropped, so a request that was refused or lost looks like a missing row; return other errors than that of a missing row (azpatterns: errors.Is with patterns.ErrNotFound)")
			}
			if c.changes(call) && len(alternatives(s.Cond)) == 1 && !c.examined(s.Body, err) {
				c.report(ret, "the error of this request is dropped, so the caller takes the change for made; return the error (azpatterns: the methods of Table return whether the row was written)")
			}
		}
		if drops && f.Writes && !f.Deletes {
			c.report(call, "the error of this write is dropped, so a change that failed looks like one that was made; return the error (azpatterns: the methods of Table return whether the row was written)")
		}
	}
}}

// changes reports whether a call writes a row or sends a message. The error of a delete is often dropped for a reason.
func (c *check) changes(call *ast.CallExpr) bool {
	f := c.FactOf(call)
	return f.Writes && !f.Deletes || c.IsCall(call, "EnqueueMessage")
}

// dropsReply reports whether the error of reading the body of a reply has no effect.
func (c *check) dropsReply(call *ast.CallExpr, err types.Object, drops bool) bool {
	path, name := c.Callee(call)
	if (path != "encoding/json" || name != "Unmarshal" && name != "Decoder.Decode") && (path != "io" || !strings.HasPrefix(name, "Copy")) {
		return false
	}
	test, isTest := c.Parent(call).(*ast.BinaryExpr) // as in if json.Unmarshal(…) == nil { … }
	branch, isBranch := c.Parent(test).(*ast.IfStmt)
	drops = drops || isTest && isBranch && test.Op == token.EQL && branch.Else == nil
	return (drops || c.onlyLogged(call, err)) && c.MentionsAny(call, c.replies(c.Decl(call)))
}

// repliesAnyway reports whether a handler of HTTP requests only logs the error of a change, and replies then.
func (c *check) repliesAnyway(call *ast.CallExpr, err types.Object) bool {
	s := c.failure(call, err)
	if s == nil || s.Else != nil || !c.changes(call) || !c.onlyLogs(s.Body.List) || c.Loop(call) != nil || !c.handlesRequest(call) ||
		c.signature(c.around(call)).Results().Len() > 0 || c.apart(call) {
		return false
	}
	return source.Any(c.Decl(call).Body, func(id *ast.Ident) bool {
		return id.Pos() > s.End() && slices.Contains([]string{"WriteHeader", "Encode", "JSON", "Redirect", "Write"}, id.Name)
	})
}

// succeedsAnyway returns the last statement of the branch for the error of a call, and that branch, if the function returns no error there
// although it could.
func (c *check) succeedsAnyway(call *ast.CallExpr, err types.Object) (*ast.ReturnStmt, *ast.IfStmt) {
	s := c.failure(call, err)
	if s == nil || len(s.Body.List) == 0 || c.returnsError(c.around(call)) == nil {
		return nil, nil
	}
	ret, ok := s.Body.List[len(s.Body.List)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) == 0 || !c.IsNil(ret.Results[len(ret.Results)-1]) {
		return nil, nil
	}
	return ret, s
}

// around returns the function that contains n.
func (c *check) around(n ast.Node) ast.Node {
	_, fn := c.Body(n)
	return fn
}

// onlyLogged reports whether a call that changes data fails without an effect on what its function returns: the branch for an error only
// logs, and the function could return an error.
func (c *check) onlyLogged(call *ast.CallExpr, err types.Object) bool {
	s := c.failure(call, err)
	if s == nil || s.Else != nil || c.returnsError(c.Decl(call)) == nil || !c.onlyLogs(s.Body.List) {
		return false
	}
	if loop := c.Loop(call); loop != nil {
		if over, _ := c.over(loop, call); over == nil {
			return false // an attempt, or the loop of a worker
		}
	}
	body, fn := c.Body(call)
	used := source.Any(body, func(id *ast.Ident) bool { return id.Pos() > s.End() && c.pass.TypesInfo.Uses[id] == err })
	_, isLit := fn.(*ast.FuncLit)
	return !used && (!isLit || source.Around[*ast.GoStmt](c.Package, call) != nil)
}

// isTest reports whether n is in a test file.
func (c *check) isTest(n ast.Node) bool {
	return strings.HasSuffix(c.pass.Fset.File(n.Pos()).Name(), "_test.go")
}

// anyError reports errors of every kind that are taken as a missing row, or as one that exists.
var anyError = &Rule{Name: "anyerror", Severity: Error, Off: true, run: func(c *check) {
	for _, call := range c.AllCalls() {
		err, _ := c.ErrorOf(call)
		body, _ := c.Body(call)
		isAdd := c.IsCall(call, "AddEntity", "CreateTable")
		if err == nil || body == nil || c.IsCall(call, "NextPage") || !isAdd && !c.FactOf(call).Reads || c.isTest(call) || c.onlyLogged(call, err) {
			continue
		}
		meaning, found := missing, "a missing row"
		if isAdd {
			meaning, found = exists, "a row that exists"
		}
		if at := c.taken(call, err, body, meaning, isAdd); at != nil {
			c.report(at, "every error is taken as "+found+" here, also a refused or lost request; test the code of the error with errors.As, and return other errors (azpatterns: errors.Is with patterns.ErrNotFound or ErrExists)")
		}
	}
}}

var (
	missing = regexp.MustCompile(`(?i)not.?found|no.?such|missing|unknown|does.?n.t.?exist|no.?rows|err.?no[A-Z]`)
	exists  = regexp.MustCompile(`(?i)exist|conflict|duplicate|taken`)
)

// taken returns the place at which an error of call is taken as an outcome without a look at its code, or nil.
func (c *check) taken(call *ast.CallExpr, err types.Object, body *ast.BlockStmt, meaning *regexp.Regexp, isAdd bool) ast.Node {
	stmt, ok := c.Parent(call).(ast.Stmt)
	if !ok {
		return nil
	}
	for _, s := range c.after(stmt)[:min(1, len(c.after(stmt)))] {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			if b, ok := s.Results[0].(*ast.BinaryExpr); ok && !isAdd && b.Op == token.EQL && c.Object(b.X) == err {
				return s
			}
		case *ast.IfStmt:
			b, ok := s.Cond.(*ast.BinaryExpr)
			if !ok || c.Object(b.X) != err || !c.IsNil(b.Y) {
				return nil
			}
			branch := ast.Node(s.Body) // that runs if there is an error
			if b.Op == token.EQL {
				branch = s.Else
			}
			if branch != nil && !c.examined(branch, err) && c.means(branch, meaning, isAdd) {
				return s.Cond
			}
		}
	}
	return nil
}

// examined reports whether a branch uses the error for more than a log.
func (c *check) examined(branch ast.Node, err types.Object) bool {
	end := branch.End()
	for s := range source.All[*ast.AssignStmt](branch) {
		if c.Sets(s, err) {
			end = min(end, s.End()) // it is another error after that
		}
	}
	return source.Any(branch, func(id *ast.Ident) bool {
		s, ok := c.Parent(id).(*ast.AssignStmt)
		isSet := ok && c.Sets(s, err) && s.TokPos > id.Pos()
		return c.pass.TypesInfo.Uses[id] == err && id.Pos() < end && !isSet && !c.logged(id)
	})
}

// means reports whether a branch returns an outcome: a name or text with the meaning, a status, no error, or a write after a read.
func (c *check) means(branch ast.Node, meaning *regexp.Regexp, isAdd bool) bool {
	return source.Any(branch, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				return false
			}
			last := n.Results[len(n.Results)-1]
			v := c.Const(last)
			return !isAdd && c.IsNil(last) || v != nil && v.Kind() == constant.Bool && !constant.BoolVal(v)
		case *ast.CallExpr:
			return !isAdd && c.FactOf(n).Writes
		case ast.Expr:
			status, ok := c.ConstInt(n)
			id, isIdent := n.(*ast.Ident)
			text, _ := c.ConstText(n)
			return ok && (status == 404 && !isAdd || status == 409 && isAdd) || isIdent && meaning.MatchString(id.Name) || meaning.MatchString(text)
		}
		return false
	})
}

// errorText reports errors that are recognised by their text.
var errorText = &Rule{Name: "errortext", Severity: Warning, run: every(otherCode, cut, func(c *check) {
	for test := range nodes(c, func(ast.Expr) bool { return true }) {
		var operands []ast.Expr
		switch test := test.(type) {
		case *ast.TypeAssertExpr:
			if test.Type != nil && strings.HasSuffix(c.TypeOf(test.Type).String(), ".ResponseError") && (c.wrapped(test.X) || c.isParam(c.Object(test.X))) {
				c.report(test, "an error that a function has wrapped is of another type, so this finds nothing then; use errors.As (azpatterns: errors.Is with patterns.ErrNotFound and the like)")
			}
		case *ast.BinaryExpr:
			if test.Op == token.EQL || test.Op == token.NEQ {
				operands = []ast.Expr{test.X, test.Y}
			}
		case *ast.CallExpr:
			if c.isText(test) {
				operands = test.Args
			}
		}
		isWords := func(e ast.Expr) bool {
			words, ok := c.ConstText(e)
			return ok && serviceText.MatchString(words)
		}
		if slices.ContainsFunc(operands, c.ofError) && slices.ContainsFunc(operands, isWords) && c.importsSDK(test) && c.first(c.Decl(test)) {
			c.report(test, "an error is recognised by its text, which is not stable, and which other errors can contain too; use errors.As with *azcore.ResponseError and its ErrorCode (azpatterns: errors.Is with patterns.ErrNotFound and the like)")
		}
	}
})}

// otherCode reports comparisons with a code that the service does not return for a missing row.
func otherCode(c *check) {
	for sel := range nodes(c, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "EntityNotFound" && !c.isTest(sel) }) {
		if path, _ := source.NameOf(c.TypeOf(sel)); path == source.Tables && !source.Any(c.Decl(sel), func(other *ast.SelectorExpr) bool {
			return other.Sel.Name == "ResourceNotFound" || other.Sel.Name == "StatusCode"
		}) {
			c.report(sel, "the code of a missing row is ResourceNotFound, so this finds nothing (azpatterns: errors.Is with patterns.ErrNotFound)")
		}
	}
}

// cut reports errors of requests that are returned as text, if the package looks for the error of the service.
func cut(c *check) {
	if !source.AnyIn(c.Package, func(id *ast.Ident) bool { return id.Name == "ResponseError" || id.Name == "HasCode" }) {
		return
	}
	for _, call := range c.AllCalls() {
		err, _ := c.ErrorOf(call)
		f := c.FactOf(call)
		test := c.failure(call, err)
		if test == nil || c.isTest(call) || !f.Reads && !f.Writes && !f.Deletes && !c.IsCall(call, "NextPage") {
			continue
		}
		for made := range source.All[*ast.CallExpr](test.Body) {
			path, name := c.Callee(made)
			format, ok := "", false
			if path == "fmt" && name == "Errorf" && len(made.Args) > 1 {
				format, ok = c.ConstText(made.Args[0])
			}
			if _, returned := c.Parent(made).(*ast.ReturnStmt); ok && returned && !strings.Contains(format, "%w") && slices.ContainsFunc(made.Args, func(arg ast.Expr) bool { return c.Object(arg) == err }) {
				c.report(made, "the error of the service is only text from here on, so errors.As finds nothing in it; wrap it with %w")
			}
		}
	}
}

// wrapped reports whether an error comes from a function that wraps those of the SDK.
func (c *check) wrapped(e ast.Expr) (wraps bool) {
	body, _ := c.Body(e)
	for call := range source.All[*ast.CallExpr](body) {
		if err, _ := c.ErrorOf(call); err != nil && err == c.Object(e) && call.Pos() < e.Pos() {
			wraps = c.FactOf(call).Wraps
		}
	}
	return wraps
}

// ofError reports whether e is the text of an error, perhaps in lower case.
func (c *check) ofError(e ast.Expr) bool {
	for range 3 {
		call, ok := c.Follow(e).(*ast.CallExpr)
		if !ok {
			break
		}
		if _, name := source.Selected(call.Fun); name == "Error" && len(call.Args) == 0 {
			return true
		} else if !c.isText(call) || len(call.Args) == 0 {
			break
		}
		e = call.Args[0]
	}
	return false
}

// importsSDK reports whether the file of n imports a package of the SDK.
func (c *check) importsSDK(n ast.Node) bool {
	return slices.ContainsFunc(source.Around[*ast.File](c.Package, n).Imports, func(spec *ast.ImportSpec) bool {
		return strings.Contains(spec.Path.Value, "/azure-sdk-for-go/")
	})
}

// isText reports whether a call is one of package strings or of a regular expression.
func (c *check) isText(call *ast.CallExpr) bool {
	path, _ := c.Callee(call)
	return path == "strings" || path == "regexp"
}

// serviceText matches what programs search in the texts of errors of the service.
var serviceText = regexp.MustCompile(`(?i)^(status.?code:? ?)?(400|404|409|412|429|503|500)( |$)|(resource|table|queue|blob|container|message)(not ?found|already ?exists)|entity ?already|condition ?not|invalid ?operation|not ?found|already ?exists|unexpected EOF|server ?busy|response (404|409|412)|pop ?receipt ?mismatch|being ?deleted`)
