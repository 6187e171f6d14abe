package rules

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

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
				if part.Hole == nil || !v.Slots[i].Quoted && !v.Slots[i].Operand || !part.Hole.Pos().IsValid() {
					continue
				}
				if c.mayHaveQuote(part.Hole, 0) && (v.Slots[i].Quoted || !c.isCall(part.Hole)) { // a call may add the quotes
					c.injection(part.Hole, v.Slots[i].Quoted)
				}
			}
		}
	}
}}

func (c *check) injection(hole ast.Expr, quoted bool) {
	const remedy = `; double every quote (azpatterns: query.PartitionKey.Eq(value) and the like quote all values)`
	if !quoted {
		c.report(hole, "a string is compared in the filter without quotes, so it can add conditions; quote it, and double every quote in it (azpatterns: query.Prop(name).Eq(value))")
		return
	}
	message := "a quote in this value ends the string, and the rest of the value changes the filter" + remedy
	name, edits, ok := c.nameOf(hole, "strings")
	if t := c.TypeOf(hole); !ok || !types.Identical(t, types.Typ[types.String]) || c.assigned(hole) {
		c.report(hole, message)
		return
	}
	edits = append(edits, insert(hole.Pos(), name+".ReplaceAll("), insert(hole.End(), `, "'", "''")`))
	c.report(hole, message, fix("double the quotes", edits...))
}

// isCall reports whether e is a call, or a variable that is set to the result of one.
func (c *check) isCall(e ast.Expr) bool {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok && c.Value(id) != nil {
		e = c.Value(id)
	}
	_, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok
}

// assigned reports whether hole is a variable where it is set, which no call can take the place of.
func (c *check) assigned(hole ast.Expr) bool {
	switch p := c.Parent(hole).(type) {
	case *ast.AssignStmt:
		for _, left := range p.Lhs {
			if left == hole {
				return true
			}
		}
	case *ast.RangeStmt:
		return p.Key == hole || p.Value == hole
	case *ast.Field, *ast.ValueSpec:
		return true
	}
	return false
}

// mayHaveQuote reports whether the text of a value can contain a quote that is not doubled.
func (c *check) mayHaveQuote(e ast.Expr, depth int) bool {
	if depth > 4 {
		return false
	}
	e = ast.Unparen(e)
	if text, ok := c.ConstText(e); ok {
		return strings.Contains(text, "'")
	}
	t := types.Unalias(c.TypeOf(e))
	if basic, ok := t.Underlying().(*types.Basic); !ok || basic.Info()&types.IsString == 0 {
		return false // numbers and booleans; times and identifiers format themselves
	}
	if named, ok := t.(*types.Named); ok && c.enumerated(named) {
		return false
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		return c.callMayHaveQuote(e, depth)
	case *ast.Ident:
		if args, ok := c.Arguments(e); ok {
			return c.anyQuote(args, depth)
		}
		if value := c.Value(e); value != nil && value != ast.Expr(e) {
			return c.mayHaveQuote(value, depth+1)
		}
		return !c.constants(e)
	case *ast.BinaryExpr:
		return c.mayHaveQuote(e.X, depth+1) || c.mayHaveQuote(e.Y, depth+1)
	}
	return true
}

// anyQuote reports whether one of the expressions can contain a quote. The constants among them are formats and separators.
func (c *check) anyQuote(args []ast.Expr, depth int) bool {
	return slices.ContainsFunc(args, func(arg ast.Expr) bool {
		_, isConst := c.ConstText(arg)
		return !isConst && c.mayHaveQuote(arg, depth+1)
	})
}

func (c *check) callMayHaveQuote(call *ast.CallExpr, depth int) bool {
	if c.pass.TypesInfo.Types[call.Fun].IsType() && len(call.Args) == 1 {
		return c.mayHaveQuote(call.Args[0], depth+1)
	}
	path, name := c.Callee(call)
	switch path {
	case "strings":
		if name == "ReplaceAll" || name == "Replace" {
			return !strings.Contains(types.ExprString(call.Args[1]), "'")
		}
		return name != "Replacer.Replace" && c.anyQuote(call.Args, depth)
	case "fmt", "path":
		return c.anyQuote(call.Args, depth)
	case "strconv", "time", "encoding/hex", "encoding/base64", "encoding/base32", "net/url", "github.com/google/uuid", "github.com/gofrs/uuid":
		return false
	}
	for _, word := range []string{"escape", "quote", "sanitize", "clean", "odata", "encode", "hash", "uuid", "guid", "sum", "valid", "safe"} {
		if strings.Contains(strings.ToLower(name), word) {
			return false
		}
	}
	if _, decl := c.DeclOf(call); decl != nil && decl.Body != nil {
		return source.Any(decl.Body, func(n ast.Node) bool {
			ret, ok := n.(*ast.ReturnStmt)
			return ok && (len(ret.Results) != 1 || c.mayHaveQuote(ret.Results[0], depth+1))
		})
	}
	return name != "" && !c.formatsTime(call)
}

// formatsTime reports whether call is the String method of a type that is no string, such as uuid.UUID, or that of a
// helper whose name begins with format.
func (c *check) formatsTime(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		id, isIdent := ast.Unparen(call.Fun).(*ast.Ident)
		return isIdent && strings.HasPrefix(strings.ToLower(id.Name), "format")
	}
	return sel.Sel.Name == "String" && !source.IsNamed(c.TypeOf(sel.X), "strings", "Builder") && !source.IsNamed(c.TypeOf(sel.X), "net/url", "URL")
}

// enumerated reports whether the package of a string type declares constants of it.
func (c *check) enumerated(named *types.Named) bool {
	pkg := named.Obj().Pkg()
	if pkg == nil {
		return false
	}
	for _, name := range pkg.Scope().Names() {
		if constant, ok := pkg.Scope().Lookup(name).(*types.Const); ok && types.Identical(constant.Type(), named) {
			return true
		}
	}
	return false
}

// constants reports whether a variable ranges over constants.
func (c *check) constants(id *ast.Ident) bool {
	for n := range c.Ancestors(id) {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || c.Object(loop.Value) != c.Object(id) {
			continue
		}
		lit := c.Literal(loop.X)
		if lit == nil {
			return false
		}
		for _, e := range lit.Elts {
			if c.Const(e) == nil {
				return false
			}
		}
		return true
	}
	return false
}
