package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query"
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
	for element := range nodes(c, func(element *ast.IndexExpr) bool { return exprName(element.X) == "Metadata" }) {
		reply, _ := source.Selected(element.X)
		_, name := source.NameOf(c.TypeOf(reply))
		key, ok := c.ConstText(element.Index)
		set, isSet := c.Parent(element).(*ast.AssignStmt)
		if reply != nil && ok && !(isSet && set.Lhs[0] == ast.Expr(element)) && strings.HasSuffix(name, "Response") && pathOfSDK(c.TypeOf(reply)) && key != "" && key == strings.ToLower(key) && !c.isTest(element) {
			c.report(element, "Go writes the names of headers with a capital, so "+key+" is read as "+strings.ToUpper(key[:1])+key[1:]+"; compare names with strings.EqualFold")
		}
	}
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

// literalType reports literals whose type no stored value of the property has.
var literalType = &Rule{Name: "literaltype", Severity: Error, run: func(c *check) {
	for _, filter := range c.Filters {
		for _, v := range filter.Values {
			for i, part := range v.Parts {
				follows := i+1 < len(v.Parts) && strings.HasPrefix(v.Parts[i+1].Text, "L")
				basic, _ := c.TypeOf(part.Hole).Underlying().(*types.Basic)
				if part.Hole != nil && basic != nil && (basic.Kind() == types.Int64 || basic.Kind() == types.Uint64) && (part.Verb == 'd' || part.Verb == 'v') && v.Slots[i].Operand && !follows {
					c.reportFilter(part.Hole, v, "an int64 is formatted without the suffix L, so the service refuses values above 2147483647, and smaller ones are Int32; write L after it (azpatterns: query.Prop(name).Eq(value))")
				}
			}
		}
	}
	schema := c.schema()
	for assertion := range nodes(c, func(e *ast.TypeAssertExpr) bool { return e.Type != nil }) {
		element, ok := assertion.X.(*ast.IndexExpr)
		if name := exprName(assertion.X); ok && schema[name] == query.Int64 && source.IsBasic(c.TypeOf(assertion.Type), types.IsNumeric) && types.IsInterface(c.TypeOf(element)) && edmType(c.TypeOf(assertion.Type)) == "" {
			c.report(assertion, name+" is an Int64, which is a string in JSON, so this type assertion never holds; decode into aztables.EDMEntity and assert EDMInt64 (azpatterns: patterns.Table decodes into a struct)")
		}
	}
	for _, filter := range c.Filters {
		for _, v := range filter.Values {
			for i, part := range v.Parts {
				if i > 0 && v.Slots[i].Quoted && part.Hole != nil && source.IsNamed(c.TypeOf(part.Hole), "time", "Time") {
					c.report(part.Hole, "a time is written into the filter in a form that the service does not read; format it with UTC().Format(time.RFC3339) (azpatterns: query.Prop(name).Ge(time))")
				}
				format, _ := c.Follow(part.Hole).(*ast.CallExpr)
				if format != nil && i > 0 && strings.HasSuffix(v.Parts[i-1].Text, "datetime'") && strings.HasSuffix(c.layout(format), "Z") && !c.isUTC(format) {
					c.report(part.Hole, "this layout calls the time UTC, and it may be of another zone; convert it with UTC() (azpatterns: query.Prop(name).Ge(time))")
				}
			}
		}
	}
	for e, plans := range c.plans() {
		for _, p := range plans {
			for _, w := range query.ExplainWith(p.value.Parsed, &query.ExplainOptions{Schema: schema}).Warnings {
				if w.Code == query.WarnTypeMismatch || w.Code == query.WarnInt64WithoutL {
					c.reportFilter(e, p.value, w.Property+": "+w.Problem+"; write a literal of the type of the property (azpatterns: query.Prop(name).Eq(value))")
				}
			}
		}
	}
}}

// isUTC reports whether a time, or one that callers pass, is converted to UTC.
func (c *check) isUTC(e ast.Expr) bool {
	return source.Any(c.Follow(e), func(n ast.Node) bool {
		sel, isSel := n.(*ast.SelectorExpr)
		id, isIdent := n.(*ast.Ident)
		if isIdent {
			args, _ := c.Arguments(id)
			value := c.Follow(id)
			return len(args) > 0 && !slices.ContainsFunc(args, func(arg ast.Expr) bool { return !c.isUTC(arg) }) || value != ast.Expr(id) && c.isUTC(value)
		}
		return isSel && sel.Sel.Name == "UTC"
	})
}

// schema returns the types of the properties that are certain: the keys, and the fields that all entity structs of the
// package store with the same type. A property of which nothing is certain is missing.
func (c *check) schema() query.Schema {
	schema := query.Schema{}
	for _, name := range c.pass.Pkg.Scope().Names() {
		obj, ok := c.pass.Pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		s, ok := obj.Type().Underlying().(*types.Struct)
		if !ok || !isEntity(s) {
			continue
		}
		for i := range s.NumFields() {
			name := propertyOf(s, i)
			t := storedType(s.Field(i).Type())
			if was, seen := schema[name]; seen && was != t {
				t = uncertain
			}
			schema[name] = t
		}
	}
	for _, set := range c.Set {
		name, isAnnotation := strings.CutSuffix(set.Name, "@odata.type")
		text, _ := c.ConstText(set.Value)
		if !isAnnotation {
			text = edmType(c.TypeOf(set.Value))
		}
		if t, known := annotations[text]; known {
			if was, seen := schema[name]; seen && was != t {
				t = uncertain
			}
			schema[name] = t
		}
	}
	maps.DeleteFunc(schema, func(_ string, t query.Type) bool { return t == uncertain })
	return schema
}

var annotations = map[string]query.Type{"Edm.Int64": query.Int64, "Edm.DateTime": query.DateTime, "Edm.Guid": query.GUID, "Edm.Binary": query.Binary}

// isEntity reports whether a struct has both keys: fields with the names, or an embedded aztables.Entity.
func isEntity(s *types.Struct) bool {
	keys := 0
	for i := range s.NumFields() {
		f := s.Field(i)
		if f.Embedded() && source.IsNamed(f.Type(), source.Tables, "Entity") {
			return true
		}
		if name := propertyOf(s, i); name == "PartitionKey" || name == "RowKey" {
			keys++
		}
	}
	return keys == 2
}

// propertyOf returns the name of the property that encoding/json writes for a field.
func propertyOf(s *types.Struct, i int) string {
	name, _, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
	if name == "" {
		return s.Field(i).Name()
	}
	return name
}

const uncertain query.Type = -1

// storedType returns the type as which the service stores values of t, or uncertain.
func storedType(t types.Type) query.Type {
	if named, ok := types.Unalias(t).(*types.Named); ok && named.NumMethods() > 0 {
		return uncertain // it may write itself
	}
	switch {
	case source.IsBasic(t, types.IsString):
		return query.String
	case source.IsBasic(t, types.IsBoolean):
		return query.Bool
	}
	if basic, ok := t.Underlying().(*types.Basic); ok && slices.Contains([]types.BasicKind{types.Int32, types.Int16, types.Int8}, basic.Kind()) {
		return query.Int32
	}
	return uncertain
}
