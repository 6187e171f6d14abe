package api

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"github.com/azpatterns/azpatterns/internal/assert"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "write the present API to the record")
	reason = flag.String("reason", "", "with -update: why lines are removed or changed")
)

// modules are the folders of the modules whose packages other modules import.
var modules = []string{".", "patterns/otel", "query/vet"}

// exceptions are the lines that were removed since the last release, below comments with their reasons.
const exceptions = "except.txt"

func TestTheAPIIsTheRecordedOne(t *testing.T) {
	now := present(t)
	recorded, reasons := readRecord(t), readExceptions(t)
	if *update {
		removed := without(recorded, now)
		if len(removed) > 0 && *reason == "" {
			t.Fatalf("-reason has to explain why these lines are removed or changed:\n%s", strings.Join(removed, "\n"))
		}
		for _, line := range removed {
			reasons[line] = *reason
		}
		maps.DeleteFunc(reasons, func(line, _ string) bool { return slices.Contains(now, line) })
		write(t, now, reasons)
		return
	}
	for _, problem := range compare(now, recorded, reasons) {
		t.Error(problem)
	}
	if t.Failed() {
		t.Log(`run: go test ./internal/api -update -reason "why lines are removed or changed"`)
	}
}

// compare returns what is wrong with a record. Each line begins with the path of its package.
func compare(now, recorded []string, reasons map[string]string) (problems []string) {
	if len(now) == 0 || len(recorded) == 0 {
		problems = append(problems, "nothing is compared")
	}
	for _, line := range without(now, recorded) {
		problems = append(problems, "not in the record: "+line)
	}
	for _, line := range without(recorded, now) {
		problems = append(problems, "removed or changed: "+line)
	}
	for _, line := range slices.Sorted(maps.Keys(reasons)) {
		if reasons[line] == "" {
			problems = append(problems, exceptions+" has no reason for "+line)
		}
		if slices.Contains(now, line) {
			problems = append(problems, exceptions+" has a line that exists: "+line)
		}
	}
	return problems
}

// without returns the lines of a that b does not contain.
func without(a, b []string) []string {
	in := map[string]bool{}
	for _, line := range b {
		in[line] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(line string) bool { return in[line] })
}

// present returns the lines of all public packages.
func present(t *testing.T) (lines []string) {
	packages, _ := load(t)
	d := newDescriber(packages)
	for _, pkg := range packages {
		for _, line := range d.describe(pkg) {
			lines = append(lines, path(pkg)+": "+line)
		}
	}
	return lines
}

// loaded are the packages that load returns the second time.
var loaded struct {
	packages []*types.Package
	importer types.Importer
}

// load returns all public packages, from the export data of the compiler, and an importer of these and of what they import.
func load(t *testing.T) ([]*types.Package, types.Importer) {
	t.Helper()
	if loaded.packages != nil {
		return loaded.packages, loaded.importer
	}
	// The go tool caches the result of a test: the files that it depends on are those that the test itself has looked at.
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			_, err = os.Stat(name)
		}
		return err
	})
	assert.NoError(t, err)
	exports := map[string]string{}
	gc := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []*types.Package
	for _, folder := range modules {
		cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,Module", "./...")
		cmd.Dir = filepath.Join("../..", folder)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=", "GOWORK=off")
		cmd.Stderr = os.Stderr
		out := assert.Must(cmd.Output())(t)
		var own []string
		for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
			var p struct {
				ImportPath, Name, Export string
				Module                   struct{ Main bool }
			}
			assert.NoError(t, d.Decode(&p))
			if exports[p.ImportPath] == "" {
				exports[p.ImportPath] = p.Export
			}
			hidden := strings.Contains(p.ImportPath, "/internal/") || strings.HasPrefix(p.ImportPath, module+"/examples")
			if p.Module.Main && p.Name != "main" && !hidden {
				own = append(own, p.ImportPath)
			}
		}
		if len(own) == 0 {
			t.Errorf("no public package in %s", cmd.Dir)
		}
		for _, path := range own {
			pkg := assert.Must(gc.Import(path))(t)
			packages = append(packages, pkg)
		}
	}
	loaded.packages, loaded.importer = packages, gc
	return packages, gc
}

func readRecord(t *testing.T) (lines []string) {
	t.Helper()
	names := assert.Must(filepath.Glob("*.txt"))(t)
	for _, name := range names {
		if name != exceptions {
			for _, line := range readLines(t, name) {
				lines = append(lines, strings.ReplaceAll(strings.TrimSuffix(name, ".txt"), ".", "/")+": "+line)
			}
		}
	}
	return lines
}

func readExceptions(t *testing.T) map[string]string {
	t.Helper()
	reasons, reason := map[string]string{}, ""
	for _, line := range readLines(t, exceptions) {
		if after, ok := strings.CutPrefix(line, "#"); ok {
			reason = strings.TrimSpace(after)
		} else {
			reasons[line] = reason
		}
	}
	return reasons
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

func write(t *testing.T, now []string, reasons map[string]string) {
	t.Helper()
	texts := map[string]string{}
	old, _ := filepath.Glob("*.txt")
	for _, name := range old {
		assert.NoError(t, os.Remove(name))
	}
	for _, line := range now {
		pkg, rest, _ := strings.Cut(line, ": ")
		texts[strings.ReplaceAll(pkg, "/", ".")+".txt"] += rest + "\n"
	}
	sections := map[string]string{}
	for _, line := range slices.Sorted(maps.Keys(reasons)) {
		sections[reasons[line]] += line + "\n"
	}
	for _, reason := range slices.Sorted(maps.Keys(sections)) {
		texts[exceptions] += fmt.Sprintf("# %s\n%s", reason, sections[reason])
	}
	for name, text := range texts {
		assert.Equal(t, os.WriteFile(name, []byte(text), 0o644), nil)
	}
}
