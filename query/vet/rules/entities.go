package rules

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// marshalled returns the values that are encoded by encoding/json and written as entities, by the function itself or by one
// of the package that it calls.
func (c *check) marshalled() (values []ast.Expr) {
	var entities []ast.Expr
	for call := range c.CallsOf(source.Tables, "AddEntity", "UpdateEntity", "UpsertEntity") {
		entities = append(entities, call.Arg(1))
	}
	for _, set := range c.Set {
		if set.Name == "Entity" && source.IsNamed(c.TypeOf(set.Of), source.Tables, "TransactionAction") {
			entities = append(entities, set.Value)
		}
	}
	for _, entity := range entities {
		call, ok := c.Follow(entity).(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || !c.encodes(call) {
			continue
		}
		value := ast.Unparen(call.Args[0])
		if fn, i := c.Param(value); fn != nil && types.IsInterface(c.TypeOf(value)) {
			values = append(values, c.Passed(fn, i)...)
		} else {
			values = append(values, value)
		}
	}
	return values
}

// encodes reports whether call is one of encoding/json, or of a function of the package with one parameter that contains one.
func (c *check) encodes(call *ast.CallExpr) bool {
	if path, name := c.Callee(call); path == "encoding/json" {
		return name == "Marshal" || name == "MarshalIndent"
	}
	_, decl := c.DeclOf(call)
	return decl != nil && len(call.Args) == 1 && types.IsInterface(c.signature(decl).Params().At(0).Type()) &&
		source.Any(decl.Body, func(inner *ast.CallExpr) bool {
			path, _ := c.Callee(inner)
			return path == "encoding/json"
		})
}

// A keyValue is an expression for a key of an entity.
type keyValue struct {
	expr      ast.Expr
	partition bool
	written   bool // the entity is built with it; else it is read or deleted
}

// keys returns the keys of entities that are built, read or deleted.
func (c *check) keys() (all []keyValue) {
	for _, set := range c.Set {
		if name := c.property(set); name == "PartitionKey" || name == "RowKey" {
			all = append(all, keyValue{set.Value, name == "PartitionKey", true})
		}
	}
	for call := range c.CallsOf(source.Tables, "GetEntity", "DeleteEntity") {
		if len(call.Args) == 4 {
			all = append(all, keyValue{call.Args[1], true, false}, keyValue{call.Args[2], false, false})
		}
	}
	return all
}

// property returns the name of the property of an entity that is set, or "". Of a map it returns only keys, and a map in a
// literal is an entity if it has both.
func (c *check) property(set source.Setting) string {
	t := c.TypeOf(set.Of)
	if s := structOf(t); s != nil && isEntity(s) {
		if !c.stored(t, s) {
			return ""
		}
		for i := range s.NumFields() {
			if s.Field(i).Name() == set.Name {
				return propertyOf(s, i)
			}
		}
		return set.Name // of the embedded aztables.Entity
	}
	lit, isLiteral := set.Of.(*ast.CompositeLit)
	_, isMap := t.Underlying().(*types.Map)
	isKey := set.Name == "PartitionKey" || set.Name == "RowKey"
	if !isMap || !isKey || isLiteral && (c.Field(lit, "PartitionKey") == nil || c.Field(lit, "RowKey") == nil) {
		return ""
	}
	return set.Name
}

// stored reports whether values of a struct with both keys are entities: it is, or embeds, the type of aztables, or the package
// encodes a value of it and writes the result to a table. Other structs with such fields are references to rows, or options.
func (c *check) stored(t types.Type, s *types.Struct) bool {
	isEntityType := func(t types.Type) bool {
		return source.IsNamed(t, source.Tables, "Entity") || source.IsNamed(t, source.Tables, "EDMEntity")
	}
	if isEntityType(t) {
		return true
	}
	for field := range s.Fields() {
		if field.Embedded() && isEntityType(field.Type()) {
			return true
		}
	}
	return slices.ContainsFunc(c.marshalled(), func(value ast.Expr) bool { return structOf(c.TypeOf(value)) == s })
}

// structOf returns the struct that t is or points to, or nil.
func structOf(t types.Type) *types.Struct {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}
