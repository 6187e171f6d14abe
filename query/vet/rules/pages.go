package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// emptyPage reports loops over pages that stop at a page without rows.
var emptyPage = &Rule{Name: "emptypage", Severity: Error, Fixes: true, run: func(c *check) {
	for _, p := range c.nextPages() {
		loop := c.Loop(p.call)
		if loop == nil {
			continue
		}
		for s := range source.All[*ast.IfStmt](loop) {
			if body, _ := c.Body(s); body != p.body || len(s.Body.List) == 0 || !c.isEmptyTest(p, s.Cond) {
				continue
			}
			const message = "a page without rows is not the last page: the service returns such pages, with a continuation token, when it has scanned for 5 seconds or reached the end of a partition; continue while More reports true (azpatterns: Table.Query)"
			switch last := s.Body.List[len(s.Body.List)-1].(type) {
			case *ast.BranchStmt:
				if last.Tok == token.BREAK && c.leaves(last) == loop {
					var fixes []analysis.SuggestedFix
					if c.asksMore(loop, p.pager) && len(alternatives(s.Cond)) == 1 {
						fixes = append(fixes, replace("continue with the next page", last.Pos(), last.End(), "continue"))
					}
					c.report(s.Cond, message, fixes...)
				}
			case *ast.ReturnStmt:
				c.report(s.Cond, message)
			}
		}
	}
}}

// isEmptyTest reports whether cond is true if len(page.Entities) == 0.
func (c *check) isEmptyTest(p nextPage, cond ast.Expr) bool {
	return slices.ContainsFunc(alternatives(cond), func(e ast.Expr) bool {
		b, ok := e.(*ast.BinaryExpr)
		if !ok {
			return false
		}
		x := c.lenOf(b.X)
		limit, ok := c.ConstInt(b.Y)
		return x != nil && ok && c.rows(p, x) && (b.Op == token.EQL && limit == 0 || b.Op == token.LSS && limit == 1)
	})
}

// A nextPage is a call of NextPage on a pager of aztables.
type nextPage struct {
	call  *ast.CallExpr
	pager ast.Expr
	page  types.Object // the variables that it sets, or nil
	err   types.Object
	stmt  *ast.AssignStmt // nil if the results are not assigned
	body  *ast.BlockStmt  // of the function
	fn    ast.Node
}

// nextPages returns the calls of NextPage in functions.
func (c *check) nextPages() (all []nextPage) {
	for call := range c.CallsOf("", "NextPage") {
		body, fn := c.Body(call)
		if body == nil {
			continue
		}
		p := nextPage{call: call.CallExpr, pager: call.Recv, body: body, fn: fn}
		p.page, p.err, p.stmt = c.Results(p.call)
		all = append(all, p)
	}
	return all
}

// rows reports whether e is the entities of the page.
func (c *check) rows(p nextPage, e ast.Expr) bool {
	page, name := source.Selected(c.Follow(e))
	return slices.Contains([]string{"Entities", "Tables", "BlobItems", "ContainerItems", "QueueItems"}, name) && p.page != nil && c.Object(source.Root(page)) == p.page
}

// alternatives returns the conditions of which one is enough for cond: a and b of a || b.
func alternatives(cond ast.Expr) []ast.Expr {
	cond = ast.Unparen(cond)
	if b, ok := cond.(*ast.BinaryExpr); ok && b.Op == token.LOR {
		return append(alternatives(b.X), alternatives(b.Y)...)
	}
	return []ast.Expr{cond}
}

// leaves returns what a branch statement leaves: the innermost loop, switch or select of the same function.
func (c *check) leaves(b *ast.BranchStmt) ast.Node {
	if b.Label != nil {
		return nil
	}
	for n := range c.Ancestors(b) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return n
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if b.Tok == token.BREAK {
				return n
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// asksMore reports whether a loop runs while the pager has more pages.
func (c *check) asksMore(loop ast.Stmt, pager ast.Expr) bool {
	f, ok := loop.(*ast.ForStmt)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(f.Cond).(*ast.CallExpr)
	if !ok {
		return false
	}
	asked, name := source.Selected(call.Fun)
	return name == "More" && c.Same(asked, pager)
}

// pageError reports loops over pages that treat an error as the end of the rows, or repeat the failed request for ever.
var pageError = &Rule{Name: "pageerror", Severity: Error, Fixes: true, run: func(c *check) {
	for _, p := range c.nextPages() {
		loop := c.Loop(p.call)
		if loop == nil {
			continue
		}
		if _, isDropped := c.ErrorOf(p.call); isDropped || p.err == nil {
			if isDropped {
				c.report(p.call, "the error of NextPage is ignored: after an error the pager has the same page to read again, so the loop does not end; return the error (azpatterns: Table.Query)")
			}
			continue
		}
		if s := c.failure(p.call, p.err); s != nil && (!c.passedOn(p, s, loop) || c.goesOn(s, loop)) {
			c.pageError(p, s, loop)
		}
	}
}}

// passedOn reports whether the body of s, or code after the loop, does more with the error than log it. A named result, or a
// variable of an outer function, is passed on.
func (c *check) passedOn(p nextPage, s *ast.IfStmt, loop ast.Stmt) bool {
	return p.err.Pos() < p.body.Pos() || source.Any(p.body, func(id *ast.Ident) bool {
		used := id.Pos() > loop.End() || source.Within(s.Body, id) && !c.logged(id)
		return used && c.pass.TypesInfo.ObjectOf(id) == p.err
	})
}

// goesOn reports whether a branch only notes an error and continues a loop that nothing but the pager ends.
func (c *check) goesOn(s *ast.IfStmt, loop ast.Stmt) bool {
	last, ok := append([]ast.Stmt{nil}, s.Body.List...)[len(s.Body.List)].(*ast.BranchStmt)
	counts := source.Any(s.Body, func(*ast.IncDecStmt) bool { return true }) || source.Any(s.Body, func(*ast.IfStmt) bool { return true })
	f, isFor := loop.(*ast.ForStmt)
	onlyMore := false
	if isFor {
		_, onlyMore = f.Cond.(*ast.CallExpr)
	}
	return ok && last.Tok == token.CONTINUE && !counts && onlyMore
}

// returnsError returns the results of a function if the last one is an error, and else nil.
func (c *check) returnsError(fn ast.Node) *types.Tuple {
	results := c.signature(fn).Results()
	if n := results.Len(); n == 0 || !source.IsError(results.At(n-1).Type()) {
		return nil
	}
	return results
}

// logged reports whether id is in a call that logs.
func (c *check) logged(id *ast.Ident) bool {
	for a := range c.Ancestors(id) {
		if call, ok := a.(*ast.CallExpr); ok && c.Logs(call) {
			return true
		}
	}
	return false
}

func (c *check) pageError(p nextPage, s *ast.IfStmt, loop ast.Stmt) {
	const end = "an error is treated as the end of the rows, so a failed request looks like missing rows; return the error (azpatterns: Table.Query)"
	const again = "after an error the pager has the same page to read again, so this loop can repeat a failing request for ever; return the error (azpatterns: Table.Query)"
	if len(s.Body.List) == 0 {
		c.report(s.Cond, again)
		return
	}
	switch last := s.Body.List[len(s.Body.List)-1].(type) {
	case *ast.BranchStmt:
		if c.leaves(last) != loop {
			return
		}
		message := end
		if last.Tok == token.CONTINUE {
			message = again
		}
		c.report(s.Cond, message, c.returnFix(p, last)...)
	case *ast.ReturnStmt:
		n := c.returnsError(p.fn).Len()
		if yield := c.yieldsError(p.fn); yield != nil && len(last.Results) == 0 && !source.Any(s.Body, func(call *ast.CallExpr) bool { return c.Object(call.Fun) == yield }) {
			c.report(s.Cond, "the iterator ends without the error, so a failed request looks like missing rows; yield the error (azpatterns: Table.Query)")
		}
		if n == 0 && len(last.Results) > 0 && !slices.ContainsFunc(last.Results, c.signals) {
			c.report(s.Cond, end)
		}
		if n == 0 || len(last.Results) != n {
			return
		}
		if e := last.Results[n-1]; c.IsNil(e) || isEnd(e) {
			c.report(s.Cond, end, replace("return the error", e.Pos(), e.End(), p.err.Name()))
		}
	case *ast.ExprStmt:
		if call, ok := last.X.(*ast.CallExpr); ok && c.Logs(call) && !source.Terminates(s.Body.List) {
			c.report(s.Cond, again)
		}
	}
}

// yieldsError returns the parameter of an iterator that takes an error with each element, or nil.
func (c *check) yieldsError(fn ast.Node) types.Object {
	for param := range c.signature(fn).Params().Variables() {
		if yield, ok := param.Type().Underlying().(*types.Signature); ok && yield.Params().Len() == 2 && source.IsError(yield.Params().At(1).Type()) {
			return param
		}
	}
	return nil
}

// signals reports whether a result can show a failure to the caller: anything but a variable with rows.
func (c *check) signals(result ast.Expr) bool {
	switch c.TypeOf(result).Underlying().(type) {
	case *types.Slice, *types.Map:
		return c.Object(result) == nil
	}
	return true
}

// returnFix replaces a branch statement by a return of the error.
func (c *check) returnFix(p nextPage, s *ast.BranchStmt) []analysis.SuggestedFix {
	results := c.returnsError(p.fn)
	if results == nil {
		return nil
	}
	var values []string
	for i := range results.Len() - 1 {
		zero := zeroOf(results.At(i).Type())
		if zero == "" {
			return nil
		}
		values = append(values, zero)
	}
	values = append(values, p.err.Name())
	return []analysis.SuggestedFix{replace("return the error", s.Pos(), s.End(), "return "+strings.Join(values, ", "))}
}

// isEnd reports whether an error is a sentinel for the end, such as io.EOF.
func isEnd(e ast.Expr) bool {
	text := types.ExprString(e)
	name := text[strings.LastIndex(text, ".")+1:]
	return strings.Contains(name, "EOF") || strings.Contains(name, "End") || strings.Contains(name, "Done")
}

// zeroOf returns the zero value of a type, or "" if it needs the name of the type.
func zeroOf(t types.Type) string {
	for zero, info := range map[string]types.BasicInfo{`""`: types.IsString, "false": types.IsBoolean, "0": types.IsNumeric} {
		if source.IsBasic(t, info) {
			return zero
		}
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return "nil"
	}
	return ""
}
