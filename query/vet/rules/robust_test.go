package rules

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// loaded are the packages that the corpora import, by path.
var loaded = sync.OnceValues(func() (map[string]*types.Package, error) {
	roots, err := packages.Load(&packages.Config{Mode: packages.LoadTypes}, append([]string{"io", "log", "math", "strconv", "sync/atomic"}, imports...)...)
	all := map[string]*types.Package{}
	for _, p := range roots {
		all[p.PkgPath] = p.Types
	}
	return all, err
})

type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Implicits: map[ast.Node]types.Object{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
}

// runOn runs all rules on the text of a file, which may have errors.
func runOn(t testing.TB, text []byte) {
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file, _ := parser.ParseFile(set, "x.go", text, parser.SkipObjectResolution)
	if file == nil {
		return
	}
	info := newInfo()
	config := types.Config{Importer: importer(all), Error: func(error) {}}
	pkg, _ := config.Check("x", set, []*ast.File{file}, info)
	runRules(t, set, []*ast.File{file}, pkg, info, text)
}

func runRules(t testing.TB, set *token.FileSet, files []*ast.File, pkg *types.Package, info *types.Info, text []byte) {
	pass := &analysis.Pass{
		Fset: set, Files: files, Pkg: pkg, TypesInfo: info, TypesSizes: types.SizesFor("gc", "amd64"),
		ReadFile:          func(string) ([]byte, error) { return text, nil },
		ImportObjectFact:  func(types.Object, analysis.Fact) bool { return false },
		ExportObjectFact:  func(types.Object, analysis.Fact) {},
		ImportPackageFact: func(*types.Package, analysis.Fact) bool { return false },
		ExportPackageFact: func(analysis.Fact) {},
	}
	pass.Report = func(d analysis.Diagnostic) {
		if !d.Pos.IsValid() || d.End < d.Pos {
			t.Errorf("a diagnostic has no place: %s", d.Message)
		}
	}
	pass.ResultOf = map[*analysis.Analyzer]any{source.Analyzer: source.Read(pass, true)}
	for _, a := range Analyzers() {
		if _, err := a.Run(pass); err != nil {
			t.Error(err)
		}
	}
}

func corpora(t testing.TB) [][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no corpora", err)
	}
	var all [][]byte
	for _, name := range names {
		all = append(all, []byte(read(t, name)))
	}
	return all
}

func FuzzRules(f *testing.F) {
	if _, err := loaded(); err != nil { // not within the time of the first input
		f.Fatal(err)
	}
	for _, text := range corpora(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { runOn(t, text) })
}

// Generated programs are corpora in which expressions and statements are exchanged, repeated and removed.
func TestNoRulePanicsOnAGeneratedProgram(t *testing.T) {
	texts := corpora(t)
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 1))
		text := mutate(random, texts[random.IntN(len(texts))])
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { runOn(t, text) }) {
			t.Logf("%s", text)
			return
		}
	}
}

func mutate(random *rand.Rand, text []byte) []byte {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "x.go", text, parser.SkipObjectResolution)
	if err != nil {
		return text
	}
	var exprs []*ast.Expr
	var lists []*[]ast.Stmt
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for i := range n.Args {
				exprs = append(exprs, &n.Args[i])
			}
		case *ast.BinaryExpr:
			exprs = append(exprs, &n.X, &n.Y)
		case *ast.AssignStmt:
			for i := range n.Rhs {
				exprs = append(exprs, &n.Rhs[i])
			}
		case *ast.IfStmt:
			exprs = append(exprs, &n.Cond)
		case *ast.KeyValueExpr:
			exprs = append(exprs, &n.Value)
		case *ast.BlockStmt:
			lists = append(lists, &n.List)
		case *ast.CaseClause:
			lists = append(lists, &n.Body)
		}
		return true
	})
	for range 1 + random.IntN(6) {
		if len(exprs) > 1 && random.IntN(2) == 0 {
			to, from := exprs[random.IntN(len(exprs))], exprs[random.IntN(len(exprs))]
			if !within(*from, *to) {
				*to = *from
			}
			continue
		}
		if len(lists) == 0 {
			continue
		}
		to, from := lists[random.IntN(len(lists))], lists[random.IntN(len(lists))]
		at := random.IntN(len(*to) + 1)
		switch {
		case len(*to) > 0 && random.IntN(2) == 0:
			at %= len(*to)
			*to = append(append([]ast.Stmt{}, (*to)[:at]...), (*to)[at+1:]...)
		case len(*from) > 0:
			s := (*from)[random.IntN(len(*from))]
			if !ast.Node(s).Pos().IsValid() || containsList(s, to) {
				continue
			}
			*to = append(append(append([]ast.Stmt{}, (*to)[:at]...), s), (*to)[at:]...)
		}
	}
	var b bytes.Buffer
	if err := format.Node(&b, set, file); err != nil {
		return text
	}
	return b.Bytes()
}

// within reports whether outer contains inner, or the other way round: exchanging them would make a ring.
func within(a, b ast.Node) bool {
	found := false
	for _, pair := range [][2]ast.Node{{a, b}, {b, a}} {
		ast.Inspect(pair[0], func(n ast.Node) bool {
			found = found || n == pair[1]
			return !found
		})
	}
	return found
}

func containsList(s ast.Stmt, list *[]ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			found = found || &n.List == list
		case *ast.CaseClause:
			found = found || &n.Body == list
		}
		return !found
	})
	return found
}

// The code of other packages is read here as if it used aztables.
func TestNoRulePanicsOnForeignCode(t *testing.T) {
	roots, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, imports...)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	packages.Visit(roots, nil, func(p *packages.Package) {
		files += len(p.Syntax)
		for _, err := range p.Errors {
			if !strings.Contains(err.Msg, "cgo") {
				t.Errorf("%s: %v", p.PkgPath, err)
			}
		}
		runRules(t, p.Fset, p.Syntax, p.Types, p.TypesInfo, nil)
	})
	if files < 1000 {
		t.Errorf("%d files were read", files)
	}
}
