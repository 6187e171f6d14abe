package rules

import (
	"go/ast"
	"go/types"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// marshalled calls f for each value that is encoded by encoding/json and written as an entity.
func (c *check) marshalled(f func(value ast.Expr)) {
	for _, call := range c.Calls {
		if call.Is(source.Tables, "AddEntity", "UpdateEntity", "UpsertEntity") {
			c.marshalledAs(call.Arg(1), f)
		}
	}
	c.literals(func(lit *ast.CompositeLit) {
		if source.IsNamed(c.TypeOf(lit), source.Tables, "TransactionAction") {
			c.marshalledAs(source.Field(lit, "Entity"), f)
		}
	})
}

func (c *check) marshalledAs(entity ast.Expr, f func(value ast.Expr)) {
	if id, ok := entity.(*ast.Ident); ok {
		entity = c.Value(id)
	}
	if entity == nil {
		return
	}
	call, ok := ast.Unparen(entity).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	if path, name := c.Callee(call); path == "encoding/json" && (name == "Marshal" || name == "MarshalIndent") {
		f(ast.Unparen(call.Args[0]))
	}
}

// literals calls f for each composite literal, if the package uses aztables.
func (c *check) literals(f func(*ast.CompositeLit)) {
	if !c.Uses {
		return
	}
	for _, file := range c.pass.Files {
		source.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				f(lit)
			}
			return true
		})
	}
}

// A keyValue is an expression for a key of an entity.
type keyValue struct {
	expr      ast.Expr
	partition bool
	written   bool // the entity is built with it; else it is read or deleted
}

// keys calls f for each key of an entity that is built, read or deleted.
func (c *check) keys(f func(keyValue)) {
	c.literals(func(lit *ast.CompositeLit) {
		t := c.TypeOf(lit)
		if s, ok := t.Underlying().(*types.Struct); ok && (isEntity(s) || source.IsNamed(t, source.Tables, "Entity")) {
			for i := range s.NumFields() {
				switch name := propertyOf(s, i); name {
				case "PartitionKey", "RowKey":
					if e := source.Field(lit, s.Field(i).Name()); e != nil {
						f(keyValue{e, name == "PartitionKey", true})
					}
				}
			}
		}
		if _, ok := t.Underlying().(*types.Map); ok {
			partition, row := c.entry(lit, "PartitionKey"), c.entry(lit, "RowKey")
			if partition != nil && row != nil {
				f(keyValue{partition, true, true})
				f(keyValue{row, false, true})
			}
		}
	})
	for _, call := range c.Calls {
		if call.Is(source.Tables, "GetEntity", "DeleteEntity") && len(call.Args) == 4 {
			f(keyValue{call.Args[1], true, false})
			f(keyValue{call.Args[2], false, false})
		}
	}
}

// entry returns the value of a constant key in the literal of a map, or nil.
func (c *check) entry(lit *ast.CompositeLit, key string) ast.Expr {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if text, ok := c.ConstText(kv.Key); ok && text == key {
				return kv.Value
			}
		}
	}
	return nil
}
