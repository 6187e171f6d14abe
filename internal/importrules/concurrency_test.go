package importrules

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plainMethods describe a value, as those of an error do. A type that has no others is plain data: it may be read
// concurrently, like every Go value that no goroutine changes, so its doc need not mention it.
var plainMethods = []string{"Error", "Unwrap", "Is", "As", "Format", "LogValue", "String", "GoString"}

func TestEveryTypeStatesWhetherItMayBeUsedConcurrently(t *testing.T) {
	checked := 0
	for _, root := range []string{"patterns", "keys", "query"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(dir string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if entry.Name() == "internal" || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			files := map[string]*ast.File{}
			sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
			if err != nil {
				return err
			}
			for _, source := range sources {
				if strings.HasSuffix(source, "_test.go") {
					continue
				}
				if files[source], err = parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments); err != nil {
					return err
				}
			}
			types, silent := typesWithMethods(files)
			checked += types
			for _, name := range silent {
				t.Errorf("%s: the doc of %s does not state whether it may be used concurrently", dir, name)
			}
			return nil
		})
		assert.NoError(t, err)
	}
	if checked < 50 {
		t.Errorf("only %d types were checked", checked)
	}
}

func TestTheConcurrencyTestFindsASilentType(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "fixture.go", `package fixture

// Silent has a method.
type Silent[T any] struct{}

func (s *Silent[T]) Run() {}

// Loud may be used concurrently.
type Loud struct{}

func (Loud) Run() {}

// Failure is an error.
type Failure struct{}

func (*Failure) Error() string { return "" }

// Caller is an interface.
type Caller interface{ Call() }

type hidden struct{}

func (hidden) Run() {}
`, parser.ParseComments)
	assert.NoError(t, err)
	n, silent := typesWithMethods(map[string]*ast.File{"fixture.go": file})
	if want := []string{"Caller", "Silent"}; n != 3 || !slices.Equal(silent, want) {
		t.Errorf("found %d types, silent %v, want %v", n, silent, want)
	}
}

// typesWithMethods returns the number of exported structs and interfaces that have exported methods other than
// plainMethods, and the sorted names of those whose doc does not contain "concurrent".
func typesWithMethods(files map[string]*ast.File) (n int, silent []string) {
	methods := map[string]bool{}
	docs := map[string]string{}
	for _, file := range files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil && decl.Name.IsExported() && !slices.Contains(plainMethods, decl.Name.Name) {
					methods[receiver(decl.Recv.List[0].Type)] = true
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					spec, ok := spec.(*ast.TypeSpec)
					if !ok || !spec.Name.IsExported() {
						continue
					}
					switch of := spec.Type.(type) {
					case *ast.InterfaceType:
						constraint := slices.ContainsFunc(of.Methods.List, func(f *ast.Field) bool { return len(f.Names) == 0 })
						if constraint {
							continue
						}
						methods[spec.Name.Name] = len(of.Methods.List) > 0
					case *ast.StructType:
					default:
						continue
					}
					docs[spec.Name.Name] = decl.Doc.Text() + spec.Doc.Text()
				}
			}
		}
	}
	for name, doc := range docs {
		if !methods[name] {
			continue
		}
		n++
		if !strings.Contains(doc, "concurrent") {
			silent = append(silent, name)
		}
	}
	slices.Sort(silent)
	return n, silent
}

// receiver returns the name of a method's type.
func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.IndexListExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}
