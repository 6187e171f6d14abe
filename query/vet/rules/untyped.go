package rules

import (
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// untyped reports values that encoding/json writes so that the service stores them with another type.
var untyped = &Rule{Name: "untyped", Severity: Error, Fixes: true, run: func(c *check) {
	for lit := range inspector.All[*ast.CompositeLit](c.Files) {
		if source.IsNamed(c.TypeOf(lit), source.Tables, "EDMEntity") {
			c.untypedMap(c.Literal(c.Field(lit, "Properties")), true)
		}
	}
	for _, value := range c.marshalled() {
		if s := plainStruct(c.TypeOf(value)); s != nil {
			c.untypedFields(value, s)
		} else {
			c.untypedMap(c.Literal(value), false)
		}
	}
}}

// plainStruct returns the struct that t is or points to, unless it encodes itself.
func plainStruct(t types.Type) *types.Struct {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || hasMarshaler(t) {
		return nil
	}
	return s
}

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
		if types.Identical(u.Elem().Underlying(), types.Typ[types.Byte]) {
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
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		if _, isMethod := obj.(*types.Func); isMethod {
			return true
		}
	}
	return false
}

// untypedMap checks a map of properties, which can be nil. An aztables.EDMEntity annotates the EDM types itself.
func (c *check) untypedMap(lit *ast.CompositeLit, annotates bool) {
	if lit == nil {
		return
	}
	if _, ok := c.TypeOf(lit).Underlying().(*types.Map); !ok {
		return
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		name, ok := c.ConstText(kv.Key)
		if !ok || !isStored(name) || c.Field(lit, name+"@odata.type") != nil || c.annotatedLater(lit, name) {
			continue
		}
		if edm := edmType(c.TypeOf(kv.Value)); edm != "" && !annotates {
			c.report(kv, name+" has no annotation of its type in this map, so it is stored as a String; write the annotation (azpatterns: patterns.Table writes the type)", fix("write the type", annotation(kv, name, edm)))
		} else if l, lost := c.lossOf(c.TypeOf(kv.Value), c.Const(kv.Value)); lost {
			c.report(kv, name+" has no annotation of its type, so it is stored as "+l.as+", not as an "+l.edm+" (azpatterns: patterns.Table writes the type)", c.typeFix(kv, name, l, annotates)...)
		}
	}
}

// isStored reports whether a property with this name is stored by the program: the service sets Timestamp, and other names
// are metadata.
func isStored(name string) bool {
	return name != "Timestamp" && !strings.Contains(name, "@") && !strings.HasPrefix(name, "odata.")
}

// typeFix writes the annotation, if the map does not annotate EDM types itself, and converts the value to its EDM type.
func (c *check) typeFix(kv *ast.KeyValueExpr, name string, l loss, annotates bool) []analysis.SuggestedFix {
	var edits []analysis.TextEdit
	if !annotates || l.wrap == "" {
		edits = append(edits, annotation(kv, name, l.edm))
	}
	if l.wrap != "" {
		pkg, imports, ok := c.nameOf(kv, source.Tables)
		if !ok {
			return nil
		}
		end := ")"
		if l.wrap == "EDMDateTime" {
			end = ".UTC())"
		}
		edits = append(edits, imports...)
		edits = append(edits, insert(kv.Value.Pos(), pkg+"."+l.wrap+"("), insert(kv.Value.End(), end))
	}
	return []analysis.SuggestedFix{fix("write the type", edits...)}
}

func annotation(kv *ast.KeyValueExpr, name, edm string) analysis.TextEdit {
	return insert(kv.Pos(), strconv.Quote(name+"@odata.type")+": "+strconv.Quote(edm)+", ")
}

// annotatedLater reports whether the function assigns the annotation to an element of the map.
func (c *check) annotatedLater(lit *ast.CompositeLit, name string) bool {
	body, _ := c.Body(lit)
	return source.Any(body, func(index *ast.IndexExpr) bool {
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
	for _, f := range c.fields(value, s) {
		if l, lost := c.lossOf(f.Type(), nil); lost && edmType(f.Type()) == "" {
			c.report(f.at, "encoding/json writes "+f.name+" without its type, so it is stored as "+l.as+", not as an "+l.edm+annotateField(f.name))
		}
	}
}

// A field of a struct is stored without an annotation.
type field struct {
	*types.Var
	name string   // of the property
	at   ast.Node // the place to report: the field, if the package declares it, or else the value that is written
}

// fields returns the fields of the struct of value that are stored without an annotation.
func (c *check) fields(value ast.Expr, s *types.Struct) (all []field) {
	annotated := map[string]bool{}
	for i := range s.NumFields() {
		annotated[propertyOf(s, i)] = true
	}
	for i := range s.NumFields() {
		f := field{s.Field(i), propertyOf(s, i), value}
		_, options, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
		if !f.Exported() || f.Embedded() || f.name == "-" || !isStored(f.name) || strings.Contains(options, "string") || annotated[f.name+"@odata.type"] {
			continue
		}
		if id := c.Definition(f.Var); id != nil {
			f.at = id
		}
		all = append(all, f)
	}
	return all
}

// annotateField is the remedy for a field of a plain struct.
func annotateField(name string) string {
	return "; add a field with the tag `json:\"" + name + "@odata.type\"`, or use aztables.EDMEntity (azpatterns: patterns.Table writes the type)"
}
