package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// injection reports values that are formatted into a filter without escaping.
var injection = &Rule{Name: "injection", Severity: Security, Fixes: true, run: func(c *check) {
	for _, filter := range c.Filters {
		if filter.Select {
			continue
		}
		for _, v := range filter.Values {
			for i, part := range v.Parts {
				if part.Hole == nil || part.Verb == 'q' || !v.Slots[i].Quoted && !v.Slots[i].Operand {
					continue
				}
				_, isCall := c.Follow(part.Hole).(*ast.CallExpr) // which may add the quotes
				if c.MayHaveQuote(part.Hole, 0) && !c.checked(part.Hole) && (v.Slots[i].Quoted || !isCall) {
					c.injection(part.Hole, v, v.Slots[i].Quoted)
				}
			}
		}
	}
	unescaped(c)
}}

func unescaped(c *check) {
	const message = "a quote in this value ends the string in the filter, and the rest of the value changes the filter; double every quote (azpatterns: query.PartitionKey.Eq(value) and the like quote all values)"
	for _, file := range c.Files {
		if !slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return strings.Contains(spec.Path.Value, source.Tables) }) {
			continue // a filter of another service
		}
		for _, value := range c.Unescaped(file) {
			_, fn := c.Body(value)
			results := c.signature(fn).Results() // a text that a function returns is followed to its callers
			if returned := results.Len() > 0 && source.IsBasic(results.At(0).Type(), types.IsString); !returned && !c.checked(value) {
				c.report(value, message)
			}
		}
	}
	for _, call := range c.AllCalls() { // of a package that does not use the SDK
		_, decl := c.DeclOf(call)
		if decl == nil && c.FactOf(call).Unescaped {
			for _, arg := range call.Args {
				if c.MayHaveQuote(arg, 0) && c.first(c.Parent(call)) {
					c.report(arg, message)
				}
			}
		}
	}
}

func (c *check) injection(hole ast.Expr, v source.Value, quoted bool) {
	if !quoted {
		c.reportFilter(hole, v, "a string is compared in the filter without quotes, so it can add conditions; quote it, and double every quote in it (azpatterns: query.Prop(name).Eq(value))")
		return
	}
	var fixes []analysis.SuggestedFix
	if name, edits, ok := c.nameOf(hole, "strings"); ok && types.Identical(c.TypeOf(hole), types.Typ[types.String]) {
		edits = append(edits, insert(hole.Pos(), name+".ReplaceAll("), insert(hole.End(), `, "'", "''")`))
		fixes = append(fixes, fix("double the quotes", edits...))
	}
	c.reportFilter(hole, v, "a quote in this value ends the string, and the rest of the value changes the filter; double every quote (azpatterns: query.PartitionKey.Eq(value) and the like quote all values)", fixes...)
}

// checked reports whether the function that contains e has compared it with constants or matched it with a regular expression
// before, and does not reach e if that fails. What the expression matches is not examined.
func (c *check) checked(e ast.Expr) bool {
	if c.Object(e) == nil {
		return false
	}
	decl := c.Decl(e)
	return decl != nil && (source.Any(decl.Body, func(s *ast.IfStmt) bool {
		if source.Within(s.Body, e) {
			return c.restricts(s.Cond, e, true)
		}
		return s.End() < e.Pos() && source.Terminates(s.Body.List) && c.restricts(s.Cond, e, false) && c.inBlockOf(s, e)
	}) || source.Any(decl.Body, func(s *ast.SwitchStmt) bool {
		if s.Tag == nil || !c.Same(s.Tag, e) {
			return false
		}
		refuses := false
		for _, clause := range s.Body.List {
			clause := clause.(*ast.CaseClause)
			switch {
			case clause.List == nil:
				refuses = source.Terminates(clause.Body)
			case !c.allConst(clause.List):
				return false
			case source.Within(clause, e):
				return true
			}
		}
		return refuses && s.End() < e.Pos() && c.inBlockOf(s, e)
	}))
}

// inBlockOf reports whether the block that contains the statement also contains e, so that e is reached only through it.
func (c *check) inBlockOf(s ast.Stmt, e ast.Expr) bool {
	block, ok := c.Parent(s).(*ast.BlockStmt)
	return ok && source.Within(block, e)
}

func (c *check) allConst(list []ast.Expr) bool {
	for _, e := range list {
		if _, ok := c.ConstText(e); !ok {
			return false
		}
	}
	return true
}

// restricts reports whether e has a checked value if cond has the result.
func (c *check) restricts(cond, e ast.Expr, result bool) bool {
	switch cond := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return cond.Op == token.NOT && c.restricts(cond.X, e, !result)
	case *ast.BinaryExpr:
		x, y := cond.X, cond.Y
		switch {
		case cond.Op == token.LAND && result, cond.Op == token.LOR && !result:
			return c.restricts(x, e, result) || c.restricts(y, e, result)
		case cond.Op == token.LAND, cond.Op == token.LOR:
			return c.restricts(x, e, result) && c.restricts(y, e, result)
		case cond.Op == token.EQL && result, cond.Op == token.NEQ && !result:
			return c.Same(x, e) && c.allConst([]ast.Expr{y}) || c.Same(y, e) && c.allConst([]ast.Expr{x})
		}
	case *ast.CallExpr:
		path, name := c.Callee(cond)
		return result && path == "regexp" && name == "Regexp.MatchString" && len(cond.Args) == 1 && c.Same(cond.Args[0], e)
	}
	return false
}

// sysProps reports names of system properties in the wrong case. Names are case-sensitive, so the service knows no such
// property: a comparison of it never matches, and a selection of it returns nothing.
var sysProps = &Rule{Name: "sysprops", Severity: Error, Fixes: true, run: func(c *check) {
	metadataNames(c)
	for _, filter := range c.Filters {
		for _, v := range filter.Values {
			for _, word := range v.Words() {
				for _, name := range []string{"PartitionKey", "RowKey", "Timestamp"} {
					if word.Text == name || !strings.EqualFold(word.Text, name) || c.ownProperty(word.Text) {
						continue
					}
					var fixes []analysis.SuggestedFix
					if pos, end, ok := source.LiteralOf(word.Part.From, word.Text); ok {
						fixes = append(fixes, replace("write "+name, pos, end, name))
					}
					problem := "no row matches a condition on it"
					if filter.Select {
						problem = "the rows are returned without it"
					}
					c.reportFilter(filter.Expr, v, word.Text+" is not the system property "+name+", because names are case-sensitive: "+problem, fixes...)
				}
			}
		}
	}
}}

// metadataNames reports metadata that are read by a name in lower case: they are headers, and Go begins their names in upper case.
func metadataNames(c *check) {
	passed := func(e ast.Expr) ast.Expr { // by the only caller of an unexported function
		if id, ok := e.(*ast.Ident); ok && c.Const(e) == nil {
			if args, ok := c.Arguments(id); ok && len(args) == 1 {
				return args[0]
			}
		}
		return e
	}
	for element := range nodes(c, func(element *ast.IndexExpr) bool { return exprName(passed(element.X)) == "Metadata" }) {
		reply, _ := source.Selected(passed(element.X))
		_, name := source.NameOf(c.TypeOf(reply))
		key, ok := c.ConstText(passed(element.Index))
		set, isSet := c.Parent(element).(*ast.AssignStmt)
		if reply != nil && ok && !(isSet && set.Lhs[0] == ast.Expr(element)) && strings.HasSuffix(name, "Response") && pathOfSDK(c.TypeOf(reply)) && key != "" && key != asHeader(key) && !c.isTest(element) {
			c.report(element, "Go writes the names of headers with a capital, so "+key+" is read as "+asHeader(key)+"; compare names with strings.EqualFold")
		}
	}
}

// asHeader returns the name of a metadatum as it is read.
func asHeader(name string) string {
	const prefix = "X-Ms-Meta-"
	return strings.TrimPrefix(textproto.CanonicalMIMEHeaderKey(prefix+name), prefix)
}

// pathOfSDK reports whether a type is one of the SDK.
func pathOfSDK(t types.Type) bool {
	path, _ := source.NameOf(t)
	return source.IsSDK(path)
}

// ownProperty reports whether a struct that the package uses has a property of its own with this name, or the package sets or
// reads one in a map.
func (c *check) ownProperty(name string) bool {
	for _, used := range c.pass.TypesInfo.Types {
		s, ok := used.Type.Underlying().(*types.Struct)
		for i := 0; ok && i < s.NumFields(); i++ {
			if s.Field(i).Exported() && propertyOf(s, i) == name {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.Set, func(set source.Setting) bool { return set.Name == name }) ||
		source.AnyIn(c.Package, func(element *ast.IndexExpr) bool {
			text, ok := c.ConstText(element.Index)
			return ok && text == name
		})
}
