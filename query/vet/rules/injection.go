package rules

import (
	"go/ast"
	"go/types"
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
				if c.mayHaveQuote(part.Hole, 0) && !c.checked(part.Hole) && (v.Slots[i].Quoted || !isCall) {
					c.injection(part.Hole, v, v.Slots[i].Quoted)
				}
			}
		}
	}
}}

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
	if !source.IsBasic(t, types.IsString) {
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
		if value := c.Follow(e); value != ast.Expr(e) {
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
	words := []string{"escape", "quote", "sanitize", "clean", "odata", "encode", "hash", "hex", "base64", "uuid", "guid", "sum", "valid", "safe"}
	escapes := slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
	if _, decl := c.DeclOf(call); decl != nil && decl.Body != nil && !escapes {
		return source.Any(decl.Body, func(ret *ast.ReturnStmt) bool {
			return len(ret.Results) != 1 || c.mayHaveQuote(ret.Results[0], depth+1)
		})
	}
	return name != "" && !escapes && !c.formatsTime(call)
}

// formatsTime reports whether call is the String method of a type that is no string, such as uuid.UUID, or that of a
// helper whose name begins with format.
func (c *check) formatsTime(call *ast.CallExpr) bool {
	if id, isIdent := ast.Unparen(call.Fun).(*ast.Ident); isIdent {
		return strings.HasPrefix(strings.ToLower(id.Name), "format")
	}
	recv, name := source.Selected(call.Fun)
	return name == "String" && !source.IsNamed(c.TypeOf(recv), "strings", "Builder") && !source.IsNamed(c.TypeOf(recv), "net/url", "URL")
}

// enumerated reports whether the package of a string type declares constants of it.
func (c *check) enumerated(named *types.Named) bool {
	pkg := named.Obj().Pkg()
	if pkg == nil {
		return false
	}
	return slices.ContainsFunc(pkg.Scope().Names(), func(name string) bool {
		constant, ok := pkg.Scope().Lookup(name).(*types.Const)
		return ok && types.Identical(constant.Type(), named)
	})
}

// constants reports whether a variable ranges over constants.
func (c *check) constants(id *ast.Ident) bool {
	return source.Any(c.Decl(id), func(loop *ast.RangeStmt) bool {
		lit := c.Literal(loop.X)
		return c.Object(loop.Value) == c.Object(id) && lit != nil && !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool { return c.Const(e) == nil })
	})
}
