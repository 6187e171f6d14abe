package canary_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// exportedCalls returns the exported functions and methods of the public packages that return an error or a sequence
// with errors. A method of an unexported struct is one of each exported struct that embeds it. Modules of their own
// are not of this library.
func exportedCalls(t *testing.T) map[string]bool {
	names := map[string]bool{}
	methods, embedded := map[string][]string{}, map[string][]string{} // by package and unexported struct
	for _, root := range []string{"patterns", "keys", "query"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(file string, entry fs.DirEntry, err error) error {
			if _, missing := os.Stat(filepath.Join(file, "go.mod")); err == nil && entry.IsDir() && (missing == nil || entry.Name() == "internal") {
				return fs.SkipDir
			}
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
					for _, name := range embeddedIn(spec.Type) {
						name = parsed.Name.Name + "." + name
						embedded[name] = append(embedded[name], parsed.Name.Name+"."+spec.Name.Name)
					}
				}
				return true
			})
			for _, decl := range parsed.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() || f.Name.Name == "Unwrap" || f.Type.Results == nil {
					continue
				}
				var types bytes.Buffer
				for _, r := range f.Type.Results.List {
					if err := printer.Fprint(&types, set, r.Type); err != nil {
						return err
					}
				}
				declared := types.String() == "*Index[T]" || types.String() == "*LookupIndex[T]" || types.String() == "*Expiry[T]" || types.String() == "*Journal[T]" || types.String() == "patterns.View[T]" // with a method Engine
				if !declared && !strings.Contains(types.String(), "error") {
					continue
				}
				of := parsed.Name.Name
				if f.Recv != nil {
					receiver := typeName(f.Recv.List[0].Type)
					of += "." + receiver
					if !ast.IsExported(receiver) {
						methods[of] = append(methods[of], f.Name.Name)
						continue
					}
				}
				names[of+"."+f.Name.Name] = true
			}
			return nil
		})
		assert.NoError(t, err)
	}
	for name, structs := range embedded {
		for _, s := range structs {
			for _, method := range methods[name] {
				names[s+"."+method] = true
			}
		}
	}
	return names
}

// embeddedIn returns the names of the unexported types that a struct embeds.
func embeddedIn(expr ast.Expr) (names []string) {
	s, ok := expr.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, f := range s.Fields.List {
		if name := typeName(f.Type); len(f.Names) == 0 && name != "" && !ast.IsExported(name) {
			names = append(names, name)
		}
	}
	return names
}

func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return typeName(expr.X)
	case *ast.IndexExpr:
		return typeName(expr.X)
	case *ast.IndexListExpr:
		return typeName(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}
