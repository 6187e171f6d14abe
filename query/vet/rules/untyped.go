package rules

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// untyped reports values that encoding/json writes so that the service stores them with another type.
var untyped = &Rule{Name: "untyped", Severity: Error, Fixes: true, run: func(c *check) {
	for _, set := range c.Set {
		entity, field := source.Selected(set.Of)
		switch {
		case set.Name == "Properties" && source.IsNamed(c.TypeOf(set.Of), source.Tables, "EDMEntity"):
			c.untypedMap(set.Value, true)
		case field == "Properties" && source.IsNamed(c.TypeOf(entity), source.Tables, "EDMEntity"):
			c.untypedElement(set, true)
		}
	}
	for _, value := range c.marshalled() {
		if s := plainStruct(c.TypeOf(value)); s != nil {
			c.untypedFields(value, s)
		} else {
			c.untypedMap(value, false)
		}
	}
	for none := range nodes(c, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "MetadataFormatNone" }) {
		if decl := c.Decl(none); decl != nil && c.writesIn(decl) {
			c.report(none, "without metadata, times, 64-bit numbers and others are read as strings and stored as such; use MetadataFormatMinimal (azpatterns: patterns.Table keeps the types)")
		}
	}
	for i, l := range c.losses {
		others := ""
		for _, o := range c.losses[i+1:] {
			if o.of == l.of && o.edm == l.edm && len(o.fix) == len(l.fix) {
				others += ", " + o.name
				for i := range o.fix {
					l.fix[i].TextEdits = append(l.fix[i].TextEdits, o.fix[i].TextEdits...)
				}
			}
		}
		for i := range l.fix { // each file imports a package once
			slices.SortStableFunc(l.fix[i].TextEdits, func(a, b analysis.TextEdit) int { return int(a.Pos - b.Pos) })
			l.fix[i].TextEdits = slices.CompactFunc(l.fix[i].TextEdits, func(a, b analysis.TextEdit) bool { return a.Pos == b.Pos && string(a.NewText) == string(b.NewText) })
		}
		if slices.IndexFunc(c.losses, func(o lossAt) bool { return o.of == l.of && o.edm == l.edm && len(o.fix) == len(l.fix) }) == i {
			c.report(l.at, l.name+l.message+strings.Replace(others, ", ", "; so are: ", 1), l.fix...)
		}
	}
}}

// A lossAt is a value that is stored with another type. Those of one entity and type are one finding.
type lossAt struct {
	of      any // the map or the struct
	edm     string
	at      ast.Node
	name    string
	message string
	fix     []analysis.SuggestedFix
}

func (c *check) lose(l lossAt) {
	if !slices.ContainsFunc(c.losses, func(o lossAt) bool { return o.at == l.at }) {
		c.losses = append(c.losses, l)
	}
}

// edmField reports fields of the EDM types of aztables in a plain struct. Only aztables.EDMEntity writes their annotations.
var edmField = &Rule{Name: "edmfield", Severity: Error, run: every(withoutTypes, zoneless, func(c *check) {
	for call := range nodes(c, func(call *ast.CallExpr) bool {
		return len(call.Args) == 1 && source.IsNamed(c.TypeOf(call), source.Tables, "EDMDateTime") && !c.isTest(call)
	}) {
		if c.pass.TypesInfo.Types[call.Fun].IsType() && c.isLocal(call.Args[0]) {
			c.report(call, "EDMDateTime writes the clock of this time with a Z, whatever its zone, so a local time is stored as another moment; convert it with UTC")
		}
	}
	for _, value := range c.marshalled() {
		s := plainStruct(c.TypeOf(value))
		if s == nil || source.IsNamed(c.TypeOf(value), source.Tables, "EDMEntity") {
			continue
		}
		for _, f := range c.fields(value, s) {
			if edm := edmType(f.Type()); edm != "" {
				c.report(f.at, "in a plain struct "+f.name+" is written without its type, so it is stored as a String, not as an "+edm+annotateField(f.name))
			}
		}
	}
})}

// withoutTypes reports reads without metadata whose rows are decoded into typed properties.
func withoutTypes(c *check) {
	for _, set := range c.Set {
		decl := c.Decl(set.At)
		if path, name := source.NameOf(c.TypeOf(set.Of)); set.Name == "Format" && path == source.Tables && strings.HasSuffix(name, "Options") && decl != nil && !c.isTest(set.At) && c.uses(set.Value, "MetadataFormatNone") && c.uses(decl, "EDM") {
			c.report(set.Value, "without metadata the reply has no types, so Int64, DateTime and other values arrive as text; leave Format out")
		}
	}
}

// zoneless reports local times that are written with a Z.
func zoneless(c *check) {
	for call := range nodes(c, func(call *ast.CallExpr) bool { return nameOfCall(call) == "Format" && !c.isTest(call) }) {
		of, _ := source.Selected(call.Fun)
		if layout := c.layout(call); of == nil || !strings.HasSuffix(layout, "Z") || !c.importsSDK(call) || c.isUTC(of) {
			continue
		}
		if _, name, utc := c.clock(of); !utc && (name == "Now" || name == "Unix" || name == "UnixMilli") {
			c.report(call, "this layout calls the time UTC, and it is local; convert it with UTC()")
		}
	}
}

// isLocal reports whether a time is made in a zone that is not known to be UTC, in the function or in one that it calls.
func (c *check) isLocal(e ast.Expr) bool {
	if x, name := source.Selected(e); x != nil {
		for _, set := range c.Set {
			if set.Name == name && c.Same(set.Of, x) && c.Decl(set.At) == c.Decl(e) {
				e = set.Value
			}
		}
	}
	made := c.Follow(e)
	nodes := []ast.Node{made}
	if call, ok := made.(*ast.CallExpr); ok {
		if _, decl := c.DeclOf(call); decl != nil && decl.Body != nil {
			nodes = append(nodes, decl.Body)
		}
	}
	local := false
	for _, n := range nodes {
		for call := range source.All[*ast.CallExpr](n) {
			switch path, name := c.Callee(call); {
			case path == "time" && name == "Time.UTC":
				return false
			case path == "time" && (name == "Now" || name == "Time.Local" || name == "ParseInLocation" && len(call.Args) == 3 && types.ExprString(call.Args[2]) != "time.UTC" || name == "Time.In" && len(call.Args) == 1 && types.ExprString(call.Args[0]) != "time.UTC"):
				local = true
			}
		}
	}
	return local
}

// plainStruct returns the struct that t is or points to, unless it encodes itself.
func plainStruct(t types.Type) *types.Struct {
	if hasMarshaler(t) {
		return nil
	}
	return structOf(t)
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
func hasMarshaler(t types.Type) bool { return hasMethod(t, "MarshalJSON", "MarshalText") }

// hasMethod reports whether a type has one of the methods.
func hasMethod(t types.Type, names ...string) bool {
	for _, name := range names {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		if _, isMethod := obj.(*types.Func); isMethod {
			return true
		}
	}
	return false
}

// untypedMap checks a map of properties. An aztables.EDMEntity annotates the EDM types itself.
func (c *check) untypedMap(value ast.Expr, annotates bool) {
	lit, obj := c.Literal(value), c.Object(value)
	for _, set := range c.Set {
		if set.Of == lit || obj != nil && c.Object(set.Of) == obj {
			c.untypedElement(set, annotates)
		}
	}
}

func (c *check) untypedElement(set source.Setting, annotates bool) {
	_, isMap := c.TypeOf(set.Of).Underlying().(*types.Map)
	if isMap && set.Name != "" {
		c.refused(set.At, set.Name, c.TypeOf(set.Value))
	}
	if t := c.TypeOf(set.Value); !isMap || !isStored(set.Name) || c.annotated(set) {
		return
	} else if edm := edmType(t); edm != "" && !annotates {
		c.lose(lossAt{c.entityOf(set), edm, set.At, set.Name, " has no annotation of its type in this map, so it is stored as a String; write the annotation (azpatterns: patterns.Table writes the type)", c.typeFix(set, loss{edm: edm}, false)})
	} else if l, ok := c.lossOf(t, c.Const(set.Value)); ok {
		c.lose(lossAt{c.entityOf(set), l.edm, set.At, set.Name, " has no annotation of its type, so it is stored as " + l.as + ", not as an " + l.edm + " (azpatterns: patterns.Table writes the type)", c.typeFix(set, l, annotates)})
	}
}

// refused reports a property whose name or type the service refuses.
func (c *check) refused(at ast.Node, name string, t types.Type) {
	plain, _, _ := strings.Cut(name, "@")
	for _, key := range []string{"PartitionKey", "RowKey"} {
		if strings.EqualFold(plain, key) && plain != key && at != nil {
			c.report(at, "names are case-sensitive, so this is not the "+key+", without which the service refuses the row; write "+key)
		}
	}
	nested := false
	switch u := t.Underlying().(type) {
	case *types.Slice:
		nested = !types.Identical(u.Elem().Underlying(), types.Typ[types.Byte])
	case *types.Map, *types.Array:
		nested = true
	case *types.Struct:
		nested = true
	case *types.Pointer:
		nested = structOf(t) != nil
	}
	switch {
	case !propertyName.MatchString(plain) && !strings.HasPrefix(name, "odata."):
		c.report(at, "the service refuses this name of a property: it has letters, digits and underscores, and begins with no digit")
	case nested && !hasMarshaler(t):
		c.report(at, name+" is no value but an array or an object, which the service refuses; store it as a text in JSON, or its elements as rows (azpatterns: the tag json of package patterns)")
	}
}

var propertyName = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)

// entityOf returns the variable of the map that a value is set in, or its literal.
func (c *check) entityOf(set source.Setting) any {
	if v := c.Object(source.Root(set.Of)); v != nil {
		return v
	} else if s, ok := c.Parent(set.Of).(*ast.AssignStmt); ok && c.Object(s.Lhs[0]) != nil {
		return c.Object(s.Lhs[0])
	}
	return set.Of
}

// isStored reports whether a property with this name is stored by the program: the service sets Timestamp, and other names
// are metadata.
func isStored(name string) bool {
	return name != "Timestamp" && !strings.Contains(name, "@") && !strings.HasPrefix(name, "odata.")
}

// typeFix writes the annotation, if the map does not annotate EDM types itself, and converts the value to its EDM type.
func (c *check) typeFix(set source.Setting, l loss, annotates bool) []analysis.SuggestedFix {
	if m, ok := c.TypeOf(set.Of).Underlying().(*types.Map); !ok || !types.IsInterface(m.Elem()) {
		return nil // it cannot contain an annotation
	}
	var edits []analysis.TextEdit
	if !annotates || l.wrap == "" {
		text := fmt.Sprintf("%q: %q, ", set.Name+"@odata.type", l.edm)
		if s, ok := set.At.(ast.Stmt); ok {
			text = fmt.Sprintf("%s[%q] = %q\n", types.ExprString(set.Of), set.Name+"@odata.type", l.edm)
			if list, i := c.Statement(s); i < 0 || list[i] != s {
				return nil
			}
		}
		edits = append(edits, insert(set.At.Pos(), text))
	}
	if l.wrap != "" {
		pkg, imports, ok := c.nameOf(set.At, source.Tables)
		if !ok {
			return nil
		}
		end := ")"
		if l.wrap == "EDMDateTime" {
			end = ".UTC())"
		}
		edits = append(edits, imports...)
		edits = append(edits, insert(set.Value.Pos(), pkg+"."+l.wrap+"("), insert(set.Value.End(), end))
	}
	return []analysis.SuggestedFix{fix("write the type", edits...)}
}

// annotated reports whether the function around an element names its annotation, or annotations in general.
func (c *check) annotated(set source.Setting) bool {
	var around ast.Node = set.Of
	if body, _ := c.Body(set.At); body != nil {
		around = body
	}
	return source.Any(around, func(e ast.Expr) bool {
		text, _ := c.ConstText(e)
		name, isAnnotation := strings.CutSuffix(text, "@odata.type")
		return isAnnotation && (name == set.Name || name == "" || strings.Contains(name, "%"))
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
		t := f.Type()
		c.refused(f.at, f.name, t)
		if pointer, ok := t.Underlying().(*types.Pointer); ok {
			t = pointer.Elem()
		}
		if l, ok := c.lossOf(t, nil); ok && edmType(f.Type()) == "" {
			c.lose(lossAt{s, l.edm, f.at, f.name, " is written by encoding/json without its type, so it is stored as " + l.as + ", not as an " + l.edm + annotateField(f.name), nil})
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
