package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// imports are the packages that the programs of the pages may use.
var imports = []string{
	"bytes", "context", "encoding/json", "errors", "fmt", "maps", "net/http", "os", "slices", "strings", "time",
	"github.com/Azure/azure-sdk-for-go/sdk/azcore", "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime", "github.com/Azure/azure-sdk-for-go/sdk/azcore/to",
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables", "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue", "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob",
}

// findings runs all rules on the packages of the overlaid files, and returns what they find by the name of the folder.
func findings(t *testing.T, files map[string]string) map[string][]analysis.Diagnostic {
	t.Helper()
	config := &packages.Config{Mode: packages.LoadAllSyntax, Overlay: map[string][]byte{}}
	var patterns []string
	for name, text := range files {
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		config.Overlay[path] = []byte(text)
		patterns = append(patterns, "./"+filepath.ToSlash(filepath.Dir(name)))
	}
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	loaded, err := packages.Load(config, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) != len(patterns) {
		t.Fatalf("%d of %d packages are loaded", len(loaded), len(patterns))
	}
	found := map[string][]analysis.Diagnostic{}
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Errorf("%s does not compile: %v", p.PkgPath, err)
		}
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{suite()}, loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range graph.Roots {
		if root.Err != nil {
			t.Errorf("%s: %v", root.Package.PkgPath, root.Err)
		}
		name := root.Package.PkgPath[strings.LastIndex(root.Package.PkgPath, "/")+1:]
		found[name] = append(found[name], root.Diagnostics...)
	}
	return found
}

func TestEachPageHasAWrongProgramThatIsReportedAndACorrectOneThatIsNot(t *testing.T) {
	files := map[string]string{}
	for _, r := range All() {
		page := r.Page()
		_, programs, _ := strings.Cut(page, "\nWrong:\n")
		wrong, correct, found := strings.Cut(programs, "\nCorrect:\n")
		if !strings.HasPrefix(page, "# "+r.Name+": ") || !found || !strings.HasPrefix(r.Source(), "https://") {
			t.Fatalf("the page of %s lacks its title, a program, or the source:\n%s", r.Name, page)
		}
		correct, _, _ = strings.Cut(correct, "\nSource: ")
		for kind, body := range map[string]string{"wrong": wrong, "correct": correct} {
			name := r.Name + kind
			files["testdata/"+name+"/"+name+".go"] = program(name, body)
		}
	}
	found := findings(t, files)
	for _, r := range All() {
		wrong, correct := found[r.Name+"wrong"], found[r.Name+"correct"]
		reported := false
		for _, d := range wrong {
			reported = reported || strings.Contains(d.Message, "("+r.Name+", "+string(r.Severity)+")")
		}
		if !reported {
			t.Errorf("the wrong program of %s is not reported", r.Name)
		}
		for _, d := range correct {
			t.Errorf("the correct program of %s is reported: %s", r.Name, d.Message)
		}
	}
}

func program(name, body string) string {
	if !strings.Contains(body, "func ") { // statements
		body = "func _(table *aztables.Client) {\n" + body + "}\n"
	}
	text := "package " + name + "\n\nimport (\n"
	for _, path := range imports {
		if regexp.MustCompile(`\b` + path[strings.LastIndex(path, "/")+1:] + `\.`).MatchString(body) {
			text += fmt.Sprintf("\t%q\n", path)
		}
	}
	return text + ")\n\n" + body
}

func TestTheFixedProgramsCompile(t *testing.T) {
	golden, err := filepath.Glob("testdata/*/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range golden {
		files[strings.TrimSuffix(name, ".golden")] = read(t, name)
	}
	fixing := 0
	for _, r := range All() {
		if r.Fixes {
			fixing++
			if files["testdata/"+r.Name+"/"+r.Name+".go"] == "" {
				t.Errorf("no fix of %s is tested", r.Name)
			}
		}
	}
	if fixing < 8 {
		t.Errorf("%d rules suggest fixes", fixing)
	}
	findings(t, files)
}

// The hand-written half of the example has six mistakes, each of which is marked by a comment.
func TestThePlantedMistakesAreFound(t *testing.T) {
	name := "../../../examples/migrate/before/service.go"
	text := read(t, name)
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	config := &packages.Config{Mode: packages.LoadAllSyntax, Dir: filepath.Dir(name)}
	loaded, err := packages.Load(config, ".")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{suite()}, loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	reported := map[int]bool{}
	for _, root := range graph.Roots {
		for _, d := range root.Diagnostics {
			reported[root.Package.Fset.Position(d.Pos).Line] = true
		}
	}
	planted := 0
	for _, group := range file.Comments {
		if !strings.HasPrefix(group.Text(), "Mistake:") {
			continue
		}
		planted++
		next := nextLine(set, file, group)
		if !reported[next] {
			t.Errorf("line %d is not reported: %s", next, group.Text())
		}
	}
	if planted != 6 || len(reported) != 6 {
		t.Errorf("%d mistakes are planted, and %d lines are reported", planted, len(reported))
	}
}

// nextLine returns the line of the first node after a comment.
func nextLine(set *token.FileSet, file *ast.File, group *ast.CommentGroup) int {
	line := 1 << 30
	ast.Inspect(file, func(n ast.Node) bool {
		if n != nil && n.Pos() > group.End() {
			if _, isComment := n.(*ast.CommentGroup); !isComment {
				line = min(line, set.Position(n.Pos()).Line)
			}
		}
		return true
	})
	return line
}
