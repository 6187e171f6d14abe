package api

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// exempt are declarations that may deviate from one rule, each with its reason.
var exempt = map[string]string{
	"constructor: keys.NewSpread":                   "a number of buckets is all that there is to a Spread, in a pure package",
	"constructor: patterns/storagetest.New":         "it fails the test instead of returning an error",
	"constructor: query/vet/plugin.New":             "golangci-lint prescribes its form",
	"accessor: patterns/storagetest.Account.Tables": "an account is three services: Tables, Queues and Blobs",
	"key: patterns/entitytype.Table.Insert":         "values of many types, also of unknown ones, have no key function in common",
	"key: patterns/entitytype.Table.Upsert":         "as Insert",
	"view: patterns.ViewOf":                         "its shape states whether the rows are in the entity's partition",
	"range: patterns/access.Between":                "as IPRange",
	"range: patterns/access.IPRange.First":          "the ranges of a SAS include their end by definition of the service",
	"range: patterns/access.IPRange.Last":           "as First",
	"query: patterns/logdata.Reader.Query":          "it reads lines of blobs, which have neither properties nor pages of the service",
}

// leastDeclarations is a little less than what the rules read. A test that reads nothing passes.
const leastDeclarations = 1000

func TestAllPackagesSpeakOneDialect(t *testing.T) {
	packages, _ := load(t)
	all := declarations(packages)
	if len(all) < leastDeclarations {
		t.Errorf("%d declarations are too few", len(all))
	}
	unused := maps.Clone(exempt)
	for _, d := range all {
		for name, problem := range deviations(d) {
			of := name + ": " + path(d.pkg) + "." + d.name
			if _, ok := exempt[of]; ok {
				delete(unused, of)
				continue
			}
			t.Errorf("%s: %s", of, problem)
		}
	}
	for of := range unused {
		t.Errorf("%s: the exemption is not needed", of)
	}
}

var wanted = regexp.MustCompile(`// deviates: (.+)`)

func TestEachRuleOfTheDialectFindsItsDeviations(t *testing.T) {
	_, importer := load(t)
	source := assert.Must(os.ReadFile("testdata/dialect.go"))(t)
	fset := token.NewFileSet()
	file := assert.Must(parser.ParseFile(fset, "dialect.go", source, 0))(t)
	pkg := assert.Must((&types.Config{Importer: importer}).Check(module+"/fixture", fset, []*ast.File{file}, nil))(t)
	found := map[string]bool{}
	lines := make([][]string, strings.Count(string(source), "\n")+2)
	for _, d := range declarations([]*types.Package{pkg}) {
		at := fset.Position(d.obj.Pos()).Line
		for name := range deviations(d) {
			lines[at] = append(lines[at], name)
			found[name] = true
		}
	}
	for i, line := range strings.Split(string(source), "\n") {
		var want []string
		if m := wanted.FindStringSubmatch(line); m != nil {
			want = strings.Split(m[1], ", ")
		}
		if got := slices.Sorted(slices.Values(lines[i+1])); !slices.Equal(got, want) {
			t.Errorf("line %d: found %q, want %q: %s", i+1, got, want, line)
		}
	}
	for name := range dialect {
		if !found[name] {
			t.Errorf("%s: no deviation was planted, or none was found", name)
		}
	}
}

// declared is an exported function, method, field of a struct, type or variable.
type declared struct {
	pkg  *types.Package
	name string     // with the type: "Table.Query"
	of   types.Type // of methods and fields: the type that has them
	obj  types.Object
}

// last returns the name without that of the type.
func (d declared) last() string { return d.name[strings.LastIndexByte(d.name, '.')+1:] }

// options reports whether d is a field of an options struct.
func (d declared) option() bool {
	v, ok := d.obj.(*types.Var)
	return ok && v.IsField() && strings.HasSuffix(strings.Split(d.name, ".")[0], "Options")
}

// signature returns that of a function or method, otherwise nil.
func (d declared) signature() *types.Signature {
	if f, ok := d.obj.(*types.Func); ok {
		return f.Signature()
	}
	return nil
}

func declarations(packages []*types.Package) (all []declared) {
	for _, pkg := range packages {
		for _, name := range pkg.Scope().Names() {
			obj := pkg.Scope().Lookup(name)
			if !obj.Exported() {
				continue
			}
			all = append(all, declared{pkg, name, nil, obj})
			named, ok := types.Unalias(obj.Type()).(*types.Named)
			if _, isType := obj.(*types.TypeName); !isType || !ok || named.Obj().Pkg() == nil ||
				named.Obj().Pkg() != pkg && !strings.Contains(named.Obj().Pkg().Path(), "/internal/") {
				continue
			}
			if s, ok := named.Underlying().(*types.Struct); ok {
				for f := range s.Fields() {
					if f.Exported() {
						all = append(all, declared{pkg, name + "." + f.Name(), named, f})
					}
				}
			}
			var methods types.Type = named
			if !types.IsInterface(named) {
				methods = types.NewPointer(named)
			}
			for m := range types.NewMethodSet(methods).Methods() {
				if m.Obj().Exported() {
					all = append(all, declared{pkg, name + "." + m.Obj().Name(), named, m.Obj()})
				}
			}
		}
	}
	return all
}

// deviations returns the rules from which d deviates, with a text for each.
func deviations(d declared) map[string]string {
	found := map[string]string{}
	for name, check := range dialect {
		if problem := check(d); problem != "" {
			found[name] = problem
		}
	}
	return found
}

// typeOf returns the name of a type without its type arguments: "*patterns.Table", "string", "func".
func typeOf(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return "*" + typeOf(t.Elem())
	case *types.Slice:
		return "[]" + typeOf(t.Elem())
	case *types.Named:
		if t.Obj().Pkg() == nil {
			return t.Obj().Name()
		}
		return path(t.Obj().Pkg()) + "." + t.Obj().Name()
	case *types.Basic:
		return t.Name()
	case *types.Signature:
		return "func(" + strings.Join(typesOf(t.Params()), ", ") + ")" + strings.Join(typesOf(t.Results()), ", ")
	}
	return fmt.Sprintf("%T", t)
}

func typesOf(vars *types.Tuple) (texts []string) {
	for v := range vars.Variables() {
		texts = append(texts, typeOf(v.Type()))
	}
	return texts
}

// sequenceOf returns the first type of an iter.Seq2[X, error], otherwise "".
func sequenceOf(results *types.Tuple) string {
	if results.Len() == 1 {
		if n, ok := types.Unalias(results.At(0).Type()).(*types.Named); ok && typeOf(n) == "iter.Seq2" && typeOf(n.TypeArgs().At(1)) == "error" {
			return typeOf(n.TypeArgs().At(0))
		}
	}
	return ""
}

func isOptions(t string) bool {
	return strings.HasSuffix(t, "Options") && !strings.Contains(t, "github.com/Azure/")
}

const (
	sdk          = "github.com/Azure/azure-sdk-for-go/sdk/"
	tableClient  = "*" + sdk + "data/aztables.Client"
	clientHook   = "*" + sdk + "azcore/policy.ClientOptions"
	goContext    = "context.Context"
	queryOptions = "patterns/types.QueryOptions"
	progress     = "patterns/types.Progress"
	sweepOptions = "patterns/types.SweepOptions"
	sweepReport  = "patterns/types.SweepReport"
)
