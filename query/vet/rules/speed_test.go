package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// The packages are the corpora, each several times. The time is that of the analysis on one processor, without loading.
func TestThreeHundredPackagesTakeSeconds(t *testing.T) {
	names, err := filepath.Glob("testdata/*/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no corpora", err)
	}
	config := &packages.Config{Mode: packages.LoadSyntax, Overlay: map[string][]byte{}}
	var patterns []string
	for i := range 300 {
		dir := fmt.Sprintf("testdata/speed%d", i)
		for j := range 10 { // files, which may declare the same names
			path, err := filepath.Abs(fmt.Sprintf("%s/f%d.go", dir, j))
			if err != nil {
				t.Fatal(err)
			}
			_, body, _ := strings.Cut(read(t, names[(i*7+j)%len(names)]), "\n\nimport")
			config.Overlay[path] = []byte("package speed\n\nimport" + body)
		}
		patterns = append(patterns, "./"+dir)
	}
	loaded, err := packages.Load(config, patterns...)
	if err != nil || len(loaded) != 300 {
		t.Fatalf("%d packages are loaded: %v", len(loaded), err)
	}
	for _, p := range loaded {
		p.Imports = nil // without facts of the SDK
	}
	graph, err := checker.Analyze(Analyzers(), loaded, &checker.Options{Sequential: true})
	if err != nil {
		t.Fatal(err)
	}
	var took time.Duration
	found := 0
	for act := range graph.All() {
		took += act.Duration
		found += len(act.Diagnostics)
	}
	t.Logf("300 packages with 3,000 files and %d findings take %v", found, took)
	if took > 30*time.Second || found < 3000 {
		t.Errorf("300 packages with %d findings take %v, want at most 30 s", found, took)
	}
}

// BenchmarkTenThousandFiles runs the rules on all files of the standard library, the go command and the dependencies of this
// module, for all operating systems and with tests, as if each of them imported aztables:
//
//	go test -run '^$' -bench TenThousand -benchtime 1x ./rules
func BenchmarkTenThousandFiles(b *testing.B) {
	for b.Loop() {
		w := world{set: token.NewFileSet(), dirs: map[string]string{}, done: map[string]*types.Package{"unsafe": types.Unsafe}}
		w.add(b, "", filepath.Join(source.GOROOT(), "src"))
		modules, err := exec.Command("go", "list", "-m", "-f", "{{if not .Main}}{{.Path}} {{.Dir}}{{end}}", "all").Output()
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(modules)) {
			if path, dir, _ := strings.Cut(strings.TrimSpace(line), " "); dir != "" {
				w.add(b, path, dir)
			}
		}
		for path := range w.dirs {
			if _, err := w.Import(path); err != nil {
				b.Fatal(err)
			}
			for _, files := range w.parse(path, true) {
				w.read(b, path, files)
			}
		}
		if w.files < 10_000 {
			b.Errorf("%d files were read; download the modules of go list -m all", w.files)
		}
		b.ReportMetric(float64(w.files), "files")
		b.ReportMetric(w.rules.Seconds(), "s-of-rules")
		b.ReportMetric(w.longest.Seconds(), "s-longest-package")
	}
}

// A world is the packages in folders, each of which is checked when it is first imported.
type world struct {
	set            *token.FileSet
	dirs           map[string]string // by import path
	done           map[string]*types.Package
	files          int
	rules, longest time.Duration
	tb             testing.TB
}

func (w *world) add(tb testing.TB, path, root string) {
	w.tb = tb
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, dir)
		w.dirs[strings.Trim(path+"/"+filepath.ToSlash(rel), "./")] = dir
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// Import returns a package, which is incomplete if it imports itself or has code for several systems.
func (w *world) Import(path string) (*types.Package, error) {
	if w.dirs[path] == "" {
		for _, prefix := range []string{"vendor/", "cmd/vendor/"} {
			if w.dirs[prefix+path] != "" {
				path = prefix + path
			}
		}
	}
	if p := w.done[path]; p != nil {
		return p, nil
	}
	w.done[path] = types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	most := 0
	for _, files := range w.parse(path, false) {
		if p := w.read(w.tb, path, files); len(files) > most {
			w.done[path], most = p, len(files)
		}
	}
	return w.done[path], nil
}

// parse returns the test files of a folder, or its other files, by the name of their package.
func (w *world) parse(path string, tests bool) map[string][]*ast.File {
	all := map[string][]*ast.File{}
	names, err := filepath.Glob(filepath.Join(w.dirs[path], "*.go"))
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") != tests || w.dirs[path] == "" {
			continue
		}
		if file, err := parser.ParseFile(w.set, name, nil, parser.ParseComments|parser.SkipObjectResolution); err == nil {
			all[file.Name.Name] = append(all[file.Name.Name], file)
		}
	}
	return all
}

// read checks the types of the files, with errors for what only other files declare, and runs the rules.
func (w *world) read(tb testing.TB, path string, files []*ast.File) *types.Package {
	info := newInfo()
	config := types.Config{Importer: w, Error: func(error) {}, FakeImportC: true}
	pkg, _ := config.Check(path, w.set, files, info)
	start := time.Now()
	runRules(tb, w.set, files, pkg, info, nil)
	took := time.Since(start)
	w.files += len(files)
	w.rules += took
	w.longest = max(w.longest, took)
	return pkg
}
