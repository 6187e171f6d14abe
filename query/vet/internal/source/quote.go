package source

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// MayHaveQuote reports whether the text of a value can contain a quote that is not doubled.
func (p *Package) MayHaveQuote(e ast.Expr, depth int) bool {
	if depth > 4 {
		return false
	}
	e = ast.Unparen(e)
	if text, ok := p.ConstText(e); ok {
		return strings.Contains(text, "'")
	}
	t := types.Unalias(first(p.TypeOf(e)))
	if !IsBasic(t, types.IsString) {
		return false // numbers and booleans; times and identifiers format themselves
	}
	if named, ok := t.(*types.Named); ok && p.enumerated(named) {
		return false
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		return p.callMayHaveQuote(e, depth)
	case *ast.Ident:
		if args, ok := p.Arguments(e); ok {
			return p.anyQuote(args, depth)
		}
		if value := p.Follow(e); value != ast.Expr(e) {
			return p.MayHaveQuote(value, depth+1)
		}
		return !p.constants(e)
	case *ast.SliceExpr:
		return p.MayHaveQuote(e.X, depth+1)
	case *ast.BinaryExpr:
		return p.MayHaveQuote(e.X, depth+1) || p.MayHaveQuote(e.Y, depth+1)
	}
	return true
}

// anyQuote reports whether one of the expressions can contain a quote. The constants among them are formats and separators.
func (p *Package) anyQuote(args []ast.Expr, depth int) bool {
	return slices.ContainsFunc(args, func(arg ast.Expr) bool {
		_, isConst := p.ConstText(arg)
		return !isConst && p.MayHaveQuote(arg, depth+1)
	})
}

func (p *Package) callMayHaveQuote(call *ast.CallExpr, depth int) bool {
	if p.Pass.TypesInfo.Types[call.Fun].IsType() && len(call.Args) == 1 {
		return p.MayHaveQuote(call.Args[0], depth+1)
	}
	path, name := p.Callee(call)
	switch path {
	case "strings":
		if name == "ReplaceAll" || name == "Replace" {
			return !strings.Contains(types.ExprString(call.Args[1]), "'")
		}
		return name != "Replacer.Replace" && p.anyQuote(call.Args, depth)
	case "fmt", "path":
		return p.anyQuote(call.Args, depth)
	case "strconv", "time", "encoding/hex", "encoding/base64", "encoding/base32", "github.com/google/uuid", "github.com/gofrs/uuid":
		return false
	}
	words := []string{"escape", "quote", "sanitize", "clean", "odata", "encode", "hash", "hex", "base64", "uuid", "guid", "sum", "valid", "safe"}
	escapes := slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
	if _, decl := p.DeclOf(call); decl != nil && decl.Body != nil && !escapes {
		return Any(decl.Body, func(ret *ast.ReturnStmt) bool {
			return len(ret.Results) == 0 || p.MayHaveQuote(ret.Results[0], depth+1)
		})
	}
	return name != "" && !escapes && !p.FactOf(call).Safe && !p.formatsTime(call)
}

// formatsTime reports whether call is the String method of a type that is no string, such as uuid.UUID, or that of a
// helper whose name begins with format.
func (p *Package) formatsTime(call *ast.CallExpr) bool {
	if id, isIdent := ast.Unparen(call.Fun).(*ast.Ident); isIdent {
		return strings.HasPrefix(strings.ToLower(id.Name), "format")
	}
	recv, name := Selected(call.Fun)
	return name == "String" && !IsNamed(p.TypeOf(recv), "strings", "Builder") && !IsNamed(p.TypeOf(recv), "net/url", "URL")
}

// enumerated reports whether the package of a string type declares constants of it.
func (p *Package) enumerated(named *types.Named) bool {
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
func (p *Package) constants(id *ast.Ident) bool {
	return Any(p.Decl(id), func(loop *ast.RangeStmt) bool {
		lit := p.Literal(loop.X)
		return p.Object(loop.Value) == p.Object(id) && lit != nil && !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool { return p.Const(e) == nil })
	})
}

// condition matches the text before a value that is compared as a string.
var condition = regexp.MustCompile(`\b(eq|ne|lt|le|gt|ge) '$`)

// Unescaped returns the values in n that are written as strings into a text that is compared like a filter, whatever becomes of it, and
// that can contain a quote.
func (p *Package) Unescaped(n ast.Node) (values []ast.Expr) {
	for e := range All[ast.Expr](n) {
		var texts []Text
		switch e := e.(type) {
		case *ast.BinaryExpr:
			if outer, ok := p.parents[e].(*ast.BinaryExpr); isString(p.TypeOf(e)) && (!ok || outer.Op != e.Op) {
				texts = p.Texts(e)
			}
		case *ast.CallExpr:
			if path, name := p.Callee(e); path == "fmt" && name == "Sprintf" {
				texts = p.Texts(e)
			} else if path == "fmt" && name == "Fprintf" && len(e.Args) > 1 && !e.Ellipsis.IsValid() {
				texts = (&evaluator{Package: p}).format(e.Args[1], e.Args[2:])
			}
		}
		for _, t := range texts {
			for i, part := range t.Parts {
				if i == 0 || part.Hole == nil || part.Verb == 'q' || !p.MayHaveQuote(part.Hole, 0) {
					continue
				}
				operator, isName := ast.Expr(nil), false // as in name+" "+op+" '"+value+"'"
				if i > 1 && t.Parts[i-1].Text == " '" {
					operator = t.Parts[i-2].Hole
				}
				if id, ok := operator.(*ast.Ident); ok {
					isName = strings.HasPrefix(id.Name, "op") || id.Name == "cmp"
				}
				if isName || condition.MatchString(t.Parts[i-1].Text) {
					values = append(values, part.Hole)
				}
			}
		}
	}
	return values
}
