package importrules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// twins are exported structs with the same fields in patterns/... and in internal/..., by package, with the reason for
// the second one. All others exist once: in patterns/types if both need them.
var twins = map[string]string{
	"patterns/heat.Figure internal/edm.Text": "another thing that has a name and a value",
}

func TestNoTypeExistsTwice(t *testing.T) {
	public, internal := structs(t, "patterns"), structs(t, "internal")
	if len(public) < 100 || len(internal) < 100 {
		t.Fatalf("%d and %d structs were found", len(public), len(internal))
	}
	found := twinsOf(public, internal)
	for _, pair := range found {
		if twins[pair] == "" {
			t.Errorf("%s: two structs with the same fields: keep one, in patterns/types if both packages need it", pair)
		}
	}
	for pair := range twins {
		if !slices.Contains(found, pair) {
			t.Errorf("%s: remove the exception", pair)
		}
	}
}

func TestTheTestOfTwinsFindsOne(t *testing.T) {
	public := map[string]string{"patterns.Report": "Done,Failed", "patterns.Pair": "A,B"}
	internal := map[string]string{"internal/x.report": "Done,Failed", "internal/x.Other": "Done"}
	if got := twinsOf(public, internal); !slices.Equal(got, []string{"patterns.Report internal/x.report"}) {
		t.Errorf("found %v", got)
	}
}

// twinsOf returns the pairs of structs with the same fields.
func twinsOf(public, internal map[string]string) (pairs []string) {
	for a, fields := range public {
		for b, others := range internal {
			if fields == others {
				pairs = append(pairs, a+" "+b)
			}
		}
	}
	return pairs
}

// structs returns the sorted names of the fields of every struct with at least two fields in the packages below root,
// those of tests excepted. In patterns only exported structs count.
func structs(t *testing.T, root string) map[string]string {
	found := map[string]string{}
	eachType(t, root, func(pkg string, spec *ast.TypeSpec) {
		of, ok := spec.Type.(*ast.StructType)
		if !ok || root == "patterns" && !spec.Name.IsExported() {
			return
		}
		if fields := fieldsOf(of); len(fields) > 1 {
			found[pkg+"."+spec.Name.Name] = strings.Join(fields, ",")
		}
	})
	return found
}

// eachType calls visit for each type that a package below root declares, those of tests excepted.
func eachType(t *testing.T, root string, visit func(pkg string, spec *ast.TypeSpec)) {
	err := filepath.WalkDir(filepath.Join("../..", root), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("../..", filepath.Dir(file))
		if err != nil {
			return err
		}
		for _, decl := range parsed.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						visit(filepath.ToSlash(dir), spec)
					}
				}
			}
		}
		return nil
	})
	assert.NoError(t, err)
}

// fieldsOf returns the sorted names of the fields; that of an embedded field is its type.
func fieldsOf(of *ast.StructType) (fields []string) {
	for _, f := range of.Fields.List {
		for _, name := range f.Names {
			fields = append(fields, name.Name)
		}
		if len(f.Names) == 0 {
			fields = append(fields, types.ExprString(f.Type))
		}
	}
	slices.Sort(fields)
	return fields
}
