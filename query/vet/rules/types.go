package rules

import (
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query"
	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

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
