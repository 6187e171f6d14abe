package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// wholeRead reports loops that read all pages for a part of the rows: as many as a page has, or those behind an offset.
var wholeRead = &Rule{Name: "wholeread", Severity: Warning, run: func(c *check) {
	for _, p := range c.nextPages() {
		created, ok := c.Follow(p.pager).(*ast.CallExpr)
		loop, isLoop := c.Loop(p.call).(*ast.ForStmt)
		if !ok || !isLoop || p.page == nil || c.isTest(p.call) || len(created.Args) == 0 || !c.asksMore(loop, p.pager) {
			continue
		}
		top := c.Field(c.Literal(created.Args[len(created.Args)-1]), "Top")
		if limit := c.limitOf(top); limit != nil && !c.stopsAt(loop, limit) {
			c.report(loop, "Top is the size of a page, and the loop reads all pages; leave the loop after so many rows (azpatterns: QueryOptions.Limit)")
		}
		if decl := c.Decl(loop); decl != nil && newest.MatchString(decl.Name.Name) && c.leavesAlways(&ast.ForStmt{Body: firstRow(loop)}) && c.ascends() {
			c.report(created, "rows are returned in ascending order of their keys, so the first one is the oldest; store keys that descend with time (azpatterns: package logtail)")
		}
		rows := c.Derived(p.body, p.page)
		for part := range source.All[*ast.SliceExpr](p.body) {
			skips := source.Any(part.Low, func(id *ast.Ident) bool {
				fn, _ := c.Param(id)
				return fn != nil && offset.MatchString(id.Name)
			})
			if part.Pos() > loop.End() && skips && rows[c.Object(part.X)] {
				c.report(part, "all rows are read for each part of the list, so a part costs more the later it is; go on from the continuation token of the part before (azpatterns: Table.Page)")
			}
		}
	}
}}

var (
	offset  = regexp.MustCompile(`(?i)offset|skip|start|from|page`)
	atMost  = regexp.MustCompile(`(?i)^(n|k|want|num)$|limit|max|most|count|newest|latest|recent|last|first|results`)
	perPage = regexp.MustCompile(`(?i)page|size|batch|chunk`)
)

var newest = regexp.MustCompile(`(?i)newest|latest|recent|^last`)

// firstRow returns the body of the loop over the rows of a page, which is the last statement of the loop over pages, or nothing.
func firstRow(loop *ast.ForStmt) *ast.BlockStmt {
	if n := len(loop.Body.List); n > 0 {
		if rows, ok := loop.Body.List[n-1].(*ast.RangeStmt); ok {
			return rows.Body
		}
	}
	return &ast.BlockStmt{}
}

// ascends reports whether the package writes row keys that begin with a time.
func (c *check) ascends() bool {
	return slices.ContainsFunc(c.keys(), func(k keyValue) bool {
		parts := c.parts(k.expr, 0)
		if k.partition || !k.written || len(parts) == 0 || parts[0].Hole == nil {
			return false
		}
		call, _ := c.Follow(parts[0].Hole).(*ast.CallExpr)
		path, name := "", ""
		if call != nil {
			path, name = c.Callee(call)
		}
		return path == "time" && (name == "Time.Format" || strings.HasPrefix(name, "Time.Unix"))
	})
}

// limitOf returns the variable or field that an option is set to if its name states that it is the number of results, or nil.
func (c *check) limitOf(top ast.Expr) ast.Expr {
	if top == nil {
		return nil
	}
	e := c.Resolve(top)
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
		e = call.Args[0]
	}
	if name := exprName(e); c.Const(e) == nil && atMost.MatchString(name) && !perPage.MatchString(name) {
		return e
	}
	return nil
}

// stopsAt reports whether a loop is left on a condition, other than an error, or compares something with the limit.
func (c *check) stopsAt(loop *ast.ForStmt, limit ast.Expr) bool {
	return source.Any(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BranchStmt:
			return n.Tok == token.BREAK || n.Tok == token.GOTO
		case *ast.BinaryExpr:
			return n.Op != token.NEQ && source.Any(n, func(e ast.Expr) bool { return exprName(e) == exprName(limit) })
		case *ast.ReturnStmt:
			return len(n.Results) == 0 || types.ExprString(n.Results[len(n.Results)-1]) == "nil" || !source.IsError(c.TypeOf(n.Results[len(n.Results)-1]))
		}
		return false
	})
}
