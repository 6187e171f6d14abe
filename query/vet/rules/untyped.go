package rules

import (
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// untyped reports values that encoding/json writes so that the service stores them with another type.
var untyped = &Rule{Name: "untyped", Severity: Error, Fixes: true, run: func(c *check) {
	c.literals(func(lit *ast.CompositeLit) {
		if source.IsNamed(c.TypeOf(lit), source.Tables, "EDMEntity") {
			if properties := c.Literal(source.Field(lit, "Properties")); properties != nil {
				c.untypedMap(properties, true)
			}
		}
	})
	c.marshalled(func(value ast.Expr) {
		t := c.TypeOf(value)
		if pointer, ok := t.Underlying().(*types.Pointer); ok {
			t = pointer.Elem()
		}
		switch u := t.Underlying().(type) {
		case *types.Map:
			if lit := c.Literal(value); lit != nil {
				c.untypedMap(lit, false)
			}
		case *types.Struct:
			if !hasMarshaler(t) {
				c.untypedFields(value, u)
			}
		}
	})
}}

// A loss is what becomes of a value without the annotation of its type.
type loss struct{ edm, as, wrap string }

// lossOf returns the loss for a Go type. ok is false if nothing is lost.
func (c *check) lossOf(t types.Type, v constant.Value) (loss, bool) {
	switch {
	case source.IsNamed(t, "time", "Time"):
		return loss{"Edm.DateTime", "a String", "EDMDateTime"}, true
	case hasMarshaler(t):
		return loss{}, false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		if b, ok := u.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Uint8 {
			return loss{"Edm.Binary", "a String", "EDMBinary"}, true
		}
	case *types.Basic:
		switch u.Kind() {
		case types.Float64, types.Float32, types.UntypedFloat:
			if v != nil && constant.ToInt(v).Kind() != constant.Int {
				return loss{}, false // 3.5 is written as a Double
			}
			return loss{edm: "Edm.Double", as: "an Int32 if it is a whole number"}, true
		case types.Int64, types.Uint64:
			return loss{"Edm.Int64", "an Int32, and rejected if it is too large for that", "EDMInt64"}, true
		}
	}
	return loss{}, false
}

// hasMarshaler reports whether values of a type encode themselves.
func hasMarshaler(t types.Type) bool {
	for _, name := range []string{"MarshalJSON", "MarshalText"} {
		if obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name); obj != nil {
			if _, ok := obj.(*types.Func); ok {
				return true
			}
		}
	}
	return false
}

// untypedMap checks a map of properties. An aztables.EDMEntity annotates the EDM types itself.
func (c *check) untypedMap(lit *ast.CompositeLit, annotates bool) {
	if _, ok := c.TypeOf(lit).Underlying().(*types.Map); !ok {
		return
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		name, ok := c.ConstText(kv.Key)
		if !ok || name == "Timestamp" || strings.Contains(name, "@") || strings.HasPrefix(name, "odata.") || c.entry(lit, name+"@odata.type") != nil || c.annotatedLater(lit, name) {
			continue
		}
		if edm := edmType(c.TypeOf(kv.Value)); edm != "" && !annotates {
			c.report(kv, name+" has no annotation of its type in this map, so it is stored as a String", c.annotate(kv, name, edm))
			continue
		}
		l, lost := c.lossOf(c.TypeOf(kv.Value), c.Const(kv.Value))
		if !lost {
			continue
		}
		message := name + " has no annotation of its type, so it is stored as " + l.as + ", not as an " + l.edm + " (azpatterns: patterns.Table writes the type)"
		fixed := analysis.SuggestedFix{Message: "write the type"}
		if !annotates || l.wrap == "" {
			fixed = c.annotate(kv, name, l.edm)
		}
		if l.wrap != "" {
			pkg, edits, ok := c.nameOf(kv, source.Tables)
			if !ok {
				c.report(kv, message)
				continue
			}
			end := ")"
			if l.wrap == "EDMDateTime" {
				end = ".UTC())"
			}
			fixed.TextEdits = append(append(fixed.TextEdits, edits...), insert(kv.Value.Pos(), pkg+"."+l.wrap+"("), insert(kv.Value.End(), end))
		}
		c.report(kv, message, fixed)
	}
}

func (c *check) annotate(kv *ast.KeyValueExpr, name, edm string) analysis.SuggestedFix {
	return fix("write the type", insert(kv.Pos(), strconv.Quote(name+"@odata.type")+": "+strconv.Quote(edm)+", "))
}

// annotatedLater reports whether the function assigns the annotation to an element of the map.
func (c *check) annotatedLater(lit *ast.CompositeLit, name string) bool {
	body, _ := c.Body(lit)
	return source.Any(body, func(n ast.Node) bool {
		index, ok := n.(*ast.IndexExpr)
		if !ok {
			return false
		}
		text, ok := c.ConstText(index.Index)
		return ok && text == name+"@odata.type" || !ok && strings.Contains(types.ExprString(index.Index), "odata.type")
	})
}

// edmType returns the annotation for one of the EDM types of aztables, or "".
func edmType(t types.Type) string {
	for name, edm := range map[string]string{"EDMInt64": "Edm.Int64", "EDMDateTime": "Edm.DateTime", "EDMGUID": "Edm.Guid", "EDMBinary": "Edm.Binary"} {
		if source.IsNamed(t, source.Tables, name) {
			return edm
		}
	}
	return ""
}

func (c *check) untypedFields(value ast.Expr, s *types.Struct) {
	c.fields(value, s, func(f *types.Var, name string, at ast.Node) {
		if l, lost := c.lossOf(f.Type(), nil); lost && edmType(f.Type()) == "" {
			c.report(at, "encoding/json writes "+name+" without its type, so it is stored as "+l.as+", not as an "+l.edm+" (azpatterns: patterns.Table writes the type)")
		}
	})
}

// fields calls f for the fields of a struct that are stored without an annotation, with the place to report: the field, if
// the package declares it, or else value.
func (c *check) fields(value ast.Expr, s *types.Struct, f func(field *types.Var, name string, at ast.Node)) {
	annotated := map[string]bool{}
	for i := range s.NumFields() {
		annotated[propertyOf(s, i)] = true
	}
	for i := range s.NumFields() {
		field, name := s.Field(i), propertyOf(s, i)
		_, options, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
		if !field.Exported() || field.Embedded() || name == "-" || name == "Timestamp" || strings.HasPrefix(name, "odata.") || strings.Contains(options, "string") || annotated[name+"@odata.type"] {
			continue
		}
		var at ast.Node = value
		if id := c.Definition(field); id != nil {
			at = id
		}
		f(field, name, at)
	}
}
