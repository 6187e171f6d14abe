package rules

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// marshalled returns the values that are encoded by encoding/json and written as entities.
func (c *check) marshalled() (values []ast.Expr) {
	var entities []ast.Expr
	for call := range c.CallsOf(source.Tables, "AddEntity", "UpdateEntity", "UpsertEntity") {
		entities = append(entities, call.Arg(1))
	}
	for lit := range inspector.All[*ast.CompositeLit](c.Files) {
		if source.IsNamed(c.TypeOf(lit), source.Tables, "TransactionAction") {
			entities = append(entities, c.Field(lit, "Entity"))
		}
	}
	for _, entity := range entities {
		call, ok := c.Follow(entity).(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			continue
		}
		if path, name := c.Callee(call); path == "encoding/json" && (name == "Marshal" || name == "MarshalIndent") {
			values = append(values, ast.Unparen(call.Args[0]))
		}
	}
	return values
}

// A keyValue is an expression for a key of an entity.
type keyValue struct {
	expr      ast.Expr
	partition bool
	written   bool // the entity is built with it; else it is read or deleted
}

// keys returns the keys of entities that are built, read or deleted.
func (c *check) keys() (all []keyValue) {
	for lit := range inspector.All[*ast.CompositeLit](c.Files) {
		t := c.TypeOf(lit)
		switch u := t.Underlying().(type) {
		case *types.Struct:
			if !isEntity(u) && !source.IsNamed(t, source.Tables, "Entity") {
				continue
			}
			for i := range u.NumFields() {
				name, e := propertyOf(u, i), c.Field(lit, u.Field(i).Name())
				if e != nil && (name == "PartitionKey" || name == "RowKey") {
					all = append(all, keyValue{e, name == "PartitionKey", true})
				}
			}
		case *types.Map:
			partition, row := c.Field(lit, "PartitionKey"), c.Field(lit, "RowKey")
			if partition != nil && row != nil {
				all = append(all, keyValue{partition, true, true}, keyValue{row, false, true})
			}
		}
	}
	for call := range c.CallsOf(source.Tables, "GetEntity", "DeleteEntity") {
		if len(call.Args) == 4 {
			all = append(all, keyValue{call.Args[1], true, false}, keyValue{call.Args[2], false, false})
		}
	}
	return all
}
