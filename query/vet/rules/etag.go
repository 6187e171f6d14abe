package rules

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// lostUpdate reports entities that are read, changed and written without the ETag of the read.
var lostUpdate = &Rule{Name: "lostupdate", Severity: Error, Fixes: true, run: func(c *check) {
	for _, call := range c.Calls {
		if !call.Is(source.Tables, "UpdateEntity", "UpsertEntity") || len(call.Args) != 3 {
			continue
		}
		read := c.readOf(call.Recv, call, call.Arg(1))
		if read == nil {
			continue
		}
		if call.Name == "UpsertEntity" {
			c.report(call, "the entity was read before, and UpsertEntity overwrites what others wrote since then; use UpdateEntity with IfMatch: &"+read.Name()+".ETag (azpatterns: Table.Update)")
			continue
		}
		const message = "the entity was read before, and without IfMatch this overwrites what others wrote since then (azpatterns: Table.Update)"
		options := call.Arg(2)
		lit := c.Literal(options)
		switch {
		case c.IsNil(options):
			c.report(call, message, c.optionsFix(call, read)...)
		case lit != nil && source.Field(lit, "IfMatch") == nil && !c.sets(call, "IfMatch"):
			text := "IfMatch: &" + read.Name() + ".ETag"
			if len(lit.Elts) > 0 {
				text += ", "
			}
			var fixes []analysis.SuggestedFix
			if c.inScope(read, lit.Pos()) {
				fixes = append(fixes, fix("write only if the entity is unchanged", insert(lit.Lbrace+1, text)))
			}
			c.report(call, message, fixes...)
		}
	}
}}

// etagAny reports preconditions that any version of an entity meets, if the version that was read is known.
var etagAny = &Rule{Name: "etagany", Severity: Error, Fixes: true, run: func(c *check) {
	for _, call := range c.Calls {
		var read types.Object
		switch {
		case call.Is(source.Tables, "UpdateEntity") && len(call.Args) == 3:
			read = c.readOf(call.Recv, call, call.Arg(1))
		case call.Is(source.Tables, "DeleteEntity") && len(call.Args) == 4:
			read = c.readWith(call)
		}
		if read == nil {
			continue
		}
		match := source.Field(c.Literal(call.Arg(len(call.Args)-1)), "IfMatch")
		if match == nil || !c.matchesAny(match) {
			continue
		}
		var fixes []analysis.SuggestedFix
		if c.inScope(read, match.Pos()) {
			fixes = append(fixes, replace("use the ETag of the read", match.Pos(), match.End(), "&"+read.Name()+".ETag"))
		}
		c.report(match, "ETagAny matches every version, so changes that others made after the read are lost; use the ETag of "+read.Name(), fixes...)
	}
}}

// reads calls f for each GetEntity in the function of n, before n, with the variable of its reply.
func (c *check) reads(recv ast.Expr, n ast.Node, f func(get *source.Call, reply types.Object) bool) types.Object {
	decl := c.Decl(n)
	for i := len(c.Calls) - 1; i >= 0; i-- {
		get := c.Calls[i]
		if !get.Is(source.Tables, "GetEntity") || get.Pos() > n.Pos() || c.Decl(get.CallExpr) != decl || decl == nil || !c.Same(get.Recv, recv) {
			continue
		}
		vars, _, ok := c.Results(get.CallExpr)
		if ok && len(vars) == 2 && vars[0] != nil && f(get, vars[0]) {
			return vars[0]
		}
	}
	return nil
}

// readOf returns the reply of the GetEntity that an entity to write was read with, or nil.
func (c *check) readOf(recv ast.Expr, n *source.Call, entity ast.Expr) types.Object {
	return c.reads(recv, n, func(_ *source.Call, reply types.Object) bool {
		return c.MentionsAny(entity, c.Derived(c.Decl(n).Body, reply))
	})
}

// readWith returns the reply of the GetEntity with the same keys, or nil.
func (c *check) readWith(call *source.Call) types.Object {
	return c.reads(call.Recv, call, func(get *source.Call, _ types.Object) bool {
		return len(get.Args) == 4 && c.Same(get.Args[1], call.Args[1]) && c.Same(get.Args[2], call.Args[2])
	})
}

// optionsFix replaces nil options of UpdateEntity by options with the same mode and the ETag of the read.
func (c *check) optionsFix(call *source.Call, read types.Object) []analysis.SuggestedFix {
	name, edits, ok := c.nameOf(call, source.Tables)
	if !ok || !c.inScope(read, call.End()) {
		return nil
	}
	options := call.Arg(2)
	edits = append(edits, analysis.TextEdit{Pos: options.Pos(), End: options.End(), NewText: []byte("&" + name + ".UpdateEntityOptions{IfMatch: &" +
		read.Name() + ".ETag, UpdateMode: " + name + ".UpdateModeMerge}")})
	return []analysis.SuggestedFix{fix("write only if the entity is unchanged", edits...)}
}

func (c *check) inScope(obj types.Object, pos token.Pos) bool {
	scope := c.pass.Pkg.Scope().Innermost(pos)
	if scope == nil {
		return false
	}
	_, found := scope.LookupParent(obj.Name(), pos)
	return found == obj
}

// sets reports whether the function of n sets a field with this name.
func (c *check) sets(n ast.Node, field string) bool {
	body, _ := c.Body(n)
	return source.Any(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return false
		}
		for _, left := range a.Lhs {
			if sel, ok := left.(*ast.SelectorExpr); ok && sel.Sel.Name == field {
				return true
			}
		}
		return false
	})
}

// matchesAny reports whether an ETag, or what it points to, is "*".
func (c *check) matchesAny(e ast.Expr) bool {
	for range 4 {
		if e == nil {
			return false
		}
		if text, ok := c.ConstText(e); ok {
			return text == "*"
		}
		switch x := ast.Unparen(e).(type) {
		case *ast.UnaryExpr:
			e = x.X
		case *ast.CallExpr:
			if len(x.Args) != 1 {
				return false
			}
			e = x.Args[0]
		case *ast.Ident:
			e = c.Value(x)
		default:
			return false
		}
	}
	return false
}
