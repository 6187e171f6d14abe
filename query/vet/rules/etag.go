package rules

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// lostUpdate reports entities that are read, changed and written without the ETag of the read.
var lostUpdate = &Rule{Name: "lostupdate", Severity: Error, Fixes: true, run: func(c *check) {
	const message = "the entity was read before, and this overwrites what others wrote since then; "
	for call := range c.CallsOf(source.Tables, "UpdateEntity", "UpsertEntity") {
		options := call.Arg(2)
		lit := c.Literal(options)
		open := call.Name == "UpsertEntity" || c.IsNil(options) || lit != nil && c.Field(lit, "IfMatch") == nil &&
			!source.Any(c.Decl(call), func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "IfMatch" })
		read := c.readOf(call)
		switch {
		case !open || read == nil || c.setsConstants(call):
		case source.IsNamed(read.Type(), source.Tables, "ListEntitiesResponse"):
			c.report(call, message+"use UpdateEntity with IfMatch and the odata.etag of the row (azpatterns: Table.Update)")
		case call.Name == "UpsertEntity":
			c.report(call, message+"use UpdateEntity with IfMatch: &"+read.Name()+".ETag (azpatterns: Table.Update)")
		default:
			c.report(call, message+"set IfMatch: &"+read.Name()+".ETag (azpatterns: Table.Update)", c.ifMatchFix(call, lit, read)...)
		}
	}
	for call := range c.CallsOf(source.Tables, "DeleteEntity") {
		decl := c.Decl(call)
		if read := c.readWith(call); read != nil && c.IsNil(call.Arg(3)) && source.Any(decl.Body, func(s *ast.IfStmt) bool {
			return s.Pos() < call.Pos() && (c.inBlockOf(s, call) || source.Within(s.Body, call)) && c.MentionsAny(s.Cond, c.Derived(decl.Body, read))
		}) {
			c.report(call, "the decision to delete this row depends on what was read, and another process may have changed it since then; set IfMatch: &"+read.Name()+".ETag (azpatterns: Table.Delete)")
		}
	}
	for _, set := range c.Set {
		action, ok := set.Of.(*ast.CompositeLit)
		if decl := c.Decl(set.At); ok && decl != nil && set.Name == "Entity" && strings.HasPrefix(exprName(c.Field(action, "ActionType")), "TransactionTypeUpdate") && c.Field(action, "IfMatch") == nil && !c.uses(decl, "IfMatch") && c.MentionsAny(set.Value, c.replies(decl)) {
			c.report(action, message+"set IfMatch to the ETag of the read (azpatterns: Batch.Update)")
		}
	}
	conditions := source.AnyIn(c.Package, func(id *ast.Ident) bool { return id.Name == "IfMatch" })
	for _, set := range c.Set {
		action, ok := set.Of.(*ast.CompositeLit)
		if ok && set.Name == "Entity" && strings.HasPrefix(exprName(c.Field(action, "ActionType")), "TransactionTypeUpdate") && !conditions && !c.isTest(action) && c.decoded(set.Value) {
			c.report(action, message+"without IfMatch it even stores an entity that was deleted; set it to the ETag of the read (azpatterns: Batch.Update)")
		}
		if set.Name == "ETag" && source.IsNamed(c.TypeOf(set.Of), source.Tables, "UpsertEntityOptions") {
			c.report(set.At, "UpsertEntity sends no condition, so this ETag has no effect; use UpdateEntity with IfMatch (azpatterns: Table.Update)")
		}
	}
	c.expired(message)
	for _, call := range c.AllCalls() {
		if c.readsElsewhere(call) {
			c.report(call, message+"return the ETag with what is read, and write with IfMatch (azpatterns: Table.Update)")
		}
	}
}}

// setsConstants reports whether a call merges nothing but constants into a row, which does not depend on what was read.
func (c *check) setsConstants(call *source.Call) bool {
	lit, _ := c.entity(call.Arg(1))
	if lit == nil || !c.uses(call.Arg(2), "UpdateModeMerge") {
		return false
	}
	return !slices.ContainsFunc(c.Settings(lit), func(set source.Setting) bool {
		return set.Name != "PartitionKey" && set.Name != "RowKey" && c.Const(set.Value) == nil
	})
}

// decoded reports whether an encoded value is of a struct that the package also decodes from what it reads.
func (c *check) decoded(encoded ast.Expr) bool {
	call, _ := c.Follow(encoded).(*ast.CallExpr)
	for value := range c.encoded(call) {
		s := structOf(c.TypeOf(value))
		for _, decode := range c.AllCalls() {
			if path, name := c.Callee(decode); s != nil && path == "encoding/json" && name == "Unmarshal" && len(decode.Args) == 2 && c.Decl(decode) != nil && structOf(c.TypeOf(decode.Args[1])) == s && c.MentionsAny(decode.Args[0], c.replies(c.Decl(decode))) {
				return true
			}
		}
	}
	return false
}

// expired reports rows of a page that are deleted because of what they contain, whatever their version is.
func (c *check) expired(message string) {
	for _, p := range c.nextPages() {
		for call := range c.CallsOf(source.Tables, "DeleteEntity") {
			loop, ok := c.Loop(call).(*ast.RangeStmt)
			if !ok || p.page == nil || !c.rows(p, loop.X) || !c.open(call.Arg(3), "IfMatch") || c.isTest(call) {
				continue
			}
			row := c.Derived(loop.Body, c.Object(loop.Value))
			if c.MentionsAny(call.Arg(2), row) && source.Any(loop.Body, func(s *ast.IfStmt) bool {
				return s.Pos() < call.Pos() && (source.Within(s.Body, call) || c.inBlockOf(s, call) && source.Terminates(s.Body.List)) && source.Any(s.Cond, func(sel *ast.SelectorExpr) bool {
					return sel.Sel.Name != "RowKey" && sel.Sel.Name != "PartitionKey" && row[c.Object(source.Root(sel))] && !source.IsError(c.TypeOf(sel.X))
				})
			}) {
				c.report(call, "the decision to delete this row depends on what was read, and another process may have changed it since then; set IfMatch to the odata.etag of the row (azpatterns: Table.Delete)")
			}
		}
	}
}

// readsElsewhere reports whether a call overwrites what the function has read before, and other functions of one type read and
// write it.
func (c *check) readsElsewhere(call *ast.CallExpr) bool {
	decl := c.Decl(call)
	if decl == nil || !c.FactOf(call).Overwrites {
		return false
	}
	return source.Any(decl.Body, func(read *ast.CallExpr) bool {
		if read.Pos() >= call.Pos() || !c.FactOf(read).Reads || c.CallOf(read) != nil && (c.CallOf(call) == nil || c.CallOf(call).Path != source.Blobs) || !c.sameClient(read, call) {
			return false
		}
		s, ok := c.Parent(read).(*ast.AssignStmt)
		if !ok || c.Object(s.Lhs[0]) == nil {
			return false
		}
		derived := c.Derived(decl.Body, c.Object(s.Lhs[0]))
		moves := c.setsKey(decl, derived)
		to := c.names(call)
		for i, name := range c.names(read) {
			moves = moves || i < len(to) && !c.Same(name, to[i])
		}
		return !moves && slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return c.MentionsAny(arg, derived) })
	})
}

// setsKey reports whether a function sets a key of one of the variables, so that it moves an entity.
func (c *check) setsKey(decl *ast.FuncDecl, vars map[types.Object]bool) bool {
	return slices.ContainsFunc(c.Set, func(set source.Setting) bool {
		return (set.Name == "PartitionKey" || set.Name == "RowKey") && source.Within(decl, set.At) && vars[c.Object(source.Root(set.Of))]
	})
}

// names returns the arguments of a call that are strings, such as the keys of a row or the name of a blob.
func (c *check) names(call *ast.CallExpr) []ast.Expr {
	return slices.DeleteFunc(slices.Clone(call.Args), func(arg ast.Expr) bool { return !source.IsBasic(c.TypeOf(arg), types.IsString) })
}

// sameClient reports whether two calls are of the same value or package, or have the same client as an argument.
func (c *check) sameClient(a, b *ast.CallExpr) bool {
	x, _ := source.Selected(a.Fun)
	y, _ := source.Selected(b.Fun)
	return x != nil && y != nil && (c.Same(x, y) || (c.CallOf(a) == nil) != (c.CallOf(b) == nil) && c.Same(source.Root(x), source.Root(y))) || slices.ContainsFunc(a.Args, func(arg ast.Expr) bool {
		path, _ := source.NameOf(c.TypeOf(arg))
		return source.IsSDK(path) && slices.ContainsFunc(b.Args, func(other ast.Expr) bool { return c.Same(arg, other) })
	})
}

// etagAny reports preconditions that any version of an entity meets, if the version that was read is known.
var etagAny = &Rule{Name: "etagany", Severity: Error, Fixes: true, run: func(c *check) {
	for _, set := range c.Set {
		text, _ := c.ConstText(c.Resolve(set.Value))
		if _, assigns := set.At.(*ast.AssignStmt); assigns && set.Name == "IfMatch" && pathOfSDK(c.TypeOf(set.Of)) && (text == "*" || c.IsNil(set.Value)) && !c.isTest(set.At) && slices.ContainsFunc(c.Set, func(before source.Setting) bool {
			return before.Name == "IfMatch" && before.At.Pos() < set.At.Pos() && c.Decl(before.At) == c.Decl(set.At) && !c.IsNil(before.Value) && slices.ContainsFunc(c.Calls, func(call *source.Call) bool {
				return before.At.Pos() < call.Pos() && call.Pos() < set.At.Pos() && c.FactOf(call.CallExpr).Writes
			})
		}) {
			c.report(set.At, "without the condition the next request overwrites what another process has written; read the entity again, and decide again (azpatterns: Table.Update)")
		}
	}
	for call := range c.CallsOf(source.Tables, "UpdateEntity", "DeleteEntity") {
		read, options := c.readOf(call), call.Arg(2)
		if call.Name == "DeleteEntity" {
			read, options = c.readWith(call), call.Arg(3)
		}
		match := c.Field(c.Literal(options), "IfMatch")
		if text, _ := c.ConstText(c.Resolve(match)); read == nil || text != "*" {
			continue
		}
		var fixes []analysis.SuggestedFix
		if c.lookup(read.Name(), match.Pos()) == read && !source.IsNamed(read.Type(), source.Tables, "ListEntitiesResponse") {
			fixes = append(fixes, replace("use the ETag of the read", match.Pos(), match.End(), "&"+read.Name()+".ETag"))
		}
		c.report(match, "ETagAny matches every version, so changes that others made after the read are lost; use the ETag of "+read.Name()+" (azpatterns: Table.Update)", fixes...)
	}
}}

// reads returns the reply of the last GetEntity or NextPage in the function of call, before call, for which is is true, or nil.
func (c *check) reads(call *source.Call, is func(get *source.Call, reply types.Object) bool) types.Object {
	decl := c.Decl(call)
	if decl == nil {
		return nil
	}
	var last types.Object
	for get := range c.CallsOf(source.Tables, "GetEntity", "NextPage") {
		client := get.Recv
		if created, ok := c.Follow(client).(*ast.CallExpr); ok && c.IsCall(created, "NewListEntitiesPager") {
			client = c.CallOf(created).Recv
		}
		if get.Pos() > call.Pos() || c.Decl(get) != decl || !c.Same(client, call.Recv) {
			continue
		}
		if reply, _, _ := c.Results(get.CallExpr); reply != nil && is(get, reply) {
			last = reply
		}
	}
	return last
}

// readOf returns the reply of the GetEntity that the entity of call was read with, or nil.
func (c *check) readOf(call *source.Call) types.Object {
	return c.reads(call, func(_ *source.Call, reply types.Object) bool {
		if c.ofReply[reply] == nil {
			c.ofReply[reply] = c.Derived(c.Decl(call).Body, reply)
		}
		return c.MentionsAny(call.Arg(1), c.ofReply[reply])
	})
}

// readWith returns the reply of the GetEntity with the keys of call, or nil.
func (c *check) readWith(call *source.Call) types.Object {
	return c.reads(call, func(get *source.Call, _ types.Object) bool {
		return c.Same(get.Arg(1), call.Arg(1)) && c.Same(get.Arg(2), call.Arg(2))
	})
}

// ifMatchFix adds the ETag of the read to the options of UpdateEntity. If lit is nil, the options are nil, and it replaces
// them by options with the same mode.
func (c *check) ifMatchFix(call *source.Call, lit *ast.CompositeLit, read types.Object) []analysis.SuggestedFix {
	const message = "write only if the entity is unchanged"
	options := call.Arg(2)
	if lit != nil {
		options = lit
	}
	if c.lookup(read.Name(), options.Pos()) != read {
		return nil
	}
	match := "IfMatch: &" + read.Name() + ".ETag"
	if lit != nil {
		if len(lit.Elts) > 0 {
			match += ", "
		}
		return []analysis.SuggestedFix{fix(message, insert(lit.Lbrace+1, match))}
	}
	name, edits, ok := c.nameOf(call, source.Tables)
	if !ok {
		return nil
	}
	text := "&" + name + ".UpdateEntityOptions{" + match + ", UpdateMode: " + name + ".UpdateModeMerge}"
	edits = append(edits, analysis.TextEdit{Pos: options.Pos(), End: options.End(), NewText: []byte(text)})
	return []analysis.SuggestedFix{fix(message, edits...)}
}
