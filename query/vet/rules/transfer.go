package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// transfer reports queries that return more than the program uses.
var transfer = &Rule{Name: "transfer", Severity: Warning, Off: true, run: func(c *check) {
	for _, p := range c.nextPages() {
		created, ok := c.Follow(p.pager).(*ast.CallExpr)
		loop, isLoop := c.Loop(p.call).(*ast.ForStmt)
		if !ok || !isLoop || p.page == nil || c.isTest(p.call) || len(created.Args) == 0 {
			continue
		}
		last := created.Args[len(created.Args)-1]
		options := c.Literal(last)
		blobs := strings.HasPrefix(nameOfCall(created), "NewListBlobs")
		inside := func(is func(n ast.Node) bool) bool { return source.Any(loop, is) }
		switch {
		case options != nil && c.IsCall(created, "NewListEntitiesPager") && c.Field(options, "Select") == nil && !c.setsField(last, "Select") && c.countsOnly(p):
			c.report(created, "the rows are only counted, and all their properties are sent; select RowKey (azpatterns: Table.Count)")
		case blobs && (c.IsNil(last) || options != nil && c.Field(options, "Prefix") == nil) && inside(func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			path, name := "", ""
			if isCall {
				path, name = c.Callee(call)
			}
			return path == "strings" && name == "HasPrefix" && len(call.Args) == 2 && c.uses(call.Args[0], "Name")
		}):
			c.report(created, "all blobs of the container are listed, and the program picks those with a prefix; set Prefix")
		default:
			c.pickedLater(p, loop)
		}
	}
	for call := range nodes(c, func(call *ast.CallExpr) bool { return strings.HasPrefix(nameOfCall(call), "Copy") && !c.isTest(call) }) {
		if path, _ := c.Callee(call); path == "io" && len(call.Args) > 1 && types.ExprString(call.Args[0]) == "io.Discard" && c.uses(call.Args[1], "Body") && c.another(&source.Call{CallExpr: call}, false, "DownloadStream") != nil {
			c.report(call, "what was downloaded is thrown away; download only the range with HTTPRange")
		}
	}
}}

// isParam reports whether a variable is a parameter.
func (c *check) isParam(v types.Object) bool {
	_, ok := c.Parent(c.Definition(v)).(*ast.Field)
	return ok
}

// countsOnly reports whether the program uses nothing of a page but the number of its rows.
func (c *check) countsOnly(p nextPage) bool {
	counts := false
	return !source.Any(p.body, func(id *ast.Ident) bool {
		if c.pass.TypesInfo.Uses[id] != p.page {
			return false
		}
		call, ok := c.Parent(c.Parent(id)).(*ast.CallExpr)
		counts = ok && c.lenOf(call) != nil
		return !counts
	}) && counts
}

// pickedLater reports rows that are decoded and then dropped because a property is not a constant.
func (c *check) pickedLater(p nextPage, loop *ast.ForStmt) {
	for rows := range source.All[*ast.RangeStmt](loop) {
		if !c.rows(p, rows.X) {
			continue
		}
		derived := c.Derived(rows.Body, c.Object(rows.Value))
		for i, s := range rows.Body.List {
			s, ok := s.(*ast.IfStmt)
			if !ok || len(s.Body.List) == 0 || s.Init != nil || s.Else != nil || !c.comparesConstants(s.Cond, derived) {
				continue
			}
			branch, skips := s.Body.List[len(s.Body.List)-1].(*ast.BranchStmt)
			skips = skips && len(s.Body.List) == 1 && branch.Tok == token.CONTINUE
			if skips || i == len(rows.Body.List)-1 && !source.Terminates(s.Body.List) {
				c.report(s.Cond, "all rows are sent, and the program drops some by a property; add the condition to the filter (azpatterns: query.Prop(name).Eq(value))")
			}
		}
	}
}

// comparesConstants reports whether a condition compares only properties of a row with constants.
func (c *check) comparesConstants(cond ast.Expr, row map[types.Object]bool) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if b.Op == token.LAND || b.Op == token.LOR {
		return c.comparesConstants(b.X, row) && c.comparesConstants(b.Y, row)
	}
	_, name := source.Selected(b.X)
	text, _ := c.ConstText(b.Y)
	isSet := text != "" || !source.IsBasic(c.TypeOf(b.Y), types.IsString) // rows without a property match no condition on it
	return name != "" && c.Const(b.Y) != nil && isSet && row[c.Object(source.Root(b.X))] && !slices.Contains([]string{"PartitionKey", "RowKey"}, name) && b.Op != token.ADD
}

// body reports blobs whose bytes are not released, or all held in memory.
var body = &Rule{Name: "body", Severity: Warning, run: every(
	each(source.Blobs, "DownloadStream", "the body is not closed, so its connection is not used again; defer reply.Body.Close()", func(c *check, call *source.Call) bool {
		reply, _, _ := c.Results(call.CallExpr)
		if reply == nil {
			return false
		}
		decl := c.Decl(call)
		body := c.Derived(decl.Body, reply)
		return !source.Any(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				return n.Sel.Name == "Close" && c.MentionsAny(n.X, body)
			case *ast.ReturnStmt: // the caller closes it
				return slices.ContainsFunc(n.Results, func(result ast.Expr) bool {
					_, isCall := ast.Unparen(result).(*ast.CallExpr)
					return (hasMethod(c.TypeOf(result), "Close") || !isCall && c.Mentions(result, reply)) && c.MentionsAny(result, body)
				})
			case *ast.Ident: // the reply goes elsewhere
				_, selects := c.Parent(n).(*ast.SelectorExpr)
				return !selects && c.pass.TypesInfo.Uses[n] == reply
			case *ast.CallExpr: // a function of the program may close it
				_, decl := c.DeclOf(n)
				lit, isLit := n.Fun.(*ast.FuncLit)
				return (decl != nil && c.uses(decl, "Close") || isLit && c.uses(lit, "Close")) && c.MentionsAny(n, body)
			}
			return false
		}) && !slices.ContainsFunc(c.Set, func(set source.Setting) bool {
			return c.Decl(set.At) == decl && c.MentionsAny(set.Value, map[types.Object]bool{reply: true})
		})
	}),
	each(source.Blobs, "DownloadStream", "the bodies are closed when the function returns, so those of all rounds stay open; close each in its round", func(c *check, call *source.Call) bool {
		reply, _, _ := c.Results(call.CallExpr)
		loop := c.Loop(call)
		return loop != nil && reply != nil && source.Any(loop, func(s *ast.DeferStmt) bool {
			return c.Loop(s) == loop && c.Mentions(s, reply) && c.uses(s, "Close")
		})
	}),
	func(c *check) {
		for _, call := range c.AllCalls() {
			writes := nameOfCall(call) == "Write" && len(call.Args) == 1 && c.another(&source.Call{CallExpr: call}, false, "DownloadStream") != nil
			if !writes && !c.IsCall(call, "UploadBuffer") || c.isTest(call) {
				continue
			}
			for _, arg := range call.Args {
				s, ok := c.Parent(c.Definition(c.Object(arg))).(*ast.AssignStmt)
				if !ok || len(s.Rhs) != 1 || c.Loop(s) != nil {
					continue
				}
				if read, isCall := s.Rhs[0].(*ast.CallExpr); isCall && calleePath(c, read) == "io" && nameOfCall(read) == "ReadAll" && len(read.Args) == 1 && !c.limited(read.Args[0]) {
					c.report(read, "all bytes are held in memory, only to be passed on; use io.Copy, or UploadStream")
				}
			}
		}
	},
	each(source.Blobs, "UploadBuffer UploadStream", "the whole file is held in memory; open it, and use UploadFile", func(c *check, call *source.Call) bool {
		return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
			read, ok := c.Follow(arg).(*ast.CallExpr)
			return ok && calleePath(c, read) == "os" && nameOfCall(read) == "ReadFile"
		})
	}),
)}

// limited reports whether a reader ends after a number of bytes that fits into memory easily.
func (c *check) limited(reader ast.Expr) bool {
	made, ok := c.Follow(reader).(*ast.CallExpr)
	if !ok || len(made.Args) < 2 || nameOfCall(made) != "LimitReader" && nameOfCall(made) != "MaxBytesReader" {
		return false
	}
	n, known := c.number(made.Args[len(made.Args)-1])
	return !known || n <= 16<<20
}
