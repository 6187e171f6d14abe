package examples

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A recipe prints what its output.txt contains. A program with flags describes itself when it is asked for help: see help.
func TestTheProgramsPrintTheirOutputsAndTheirHelp(t *testing.T) {
	t.Parallel()
	programs := programsWithHelp(t)
	var folders []string
	for folder := range programs {
		folders = append(folders, folder)
	}
	for _, listed := range recipes {
		folders = append(folders, listed.folder)
	}
	slices.Sort(folders)
	all := build(t, folders)
	for _, listed := range recipes {
		t.Run(listed.folder, func(t *testing.T) {
			t.Parallel()
			want := outputOf(t, listed.folder)
			if got := run(t, all, listed.folder); costless(got) != costless(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	for folder, file := range programs {
		t.Run("help of "+folder, func(t *testing.T) {
			t.Parallel()
			help(t, all, folder, file)
		})
	}
}

var numberOfRequests = regexp.MustCompile(`requests: .*`)

// costless returns output without the numbers of requests, if the account does what the service does in production: pages are
// then shorter.
func costless(output string) string {
	if os.Getenv(storagetest.ProductionVariable) == "" {
		return output
	}
	return numberOfRequests.ReplaceAllString(output, "requests")
}

// run returns what a program prints. all is the program that contains it.
func run(t *testing.T, all string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), all)
	cmd.Args = args
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	return string(output)
}

// outputOf is what a recipe prints.
func outputOf(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "output.txt"))
	if err != nil || len(text) == 0 {
		t.Fatalf("the output of %s: %v", folder, err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n") // git may have changed it on Windows
}

// programsWithHelp returns the main.go of each program with flags. Recipes, which import nothing that another module
// cannot import, have none.
func programsWithHelp(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := assert.Must(filepath.Glob("*/main.go"))(t)
	programs := make(map[string]*ast.File)
	for _, name := range files {
		file := assert.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.ImportsOnly))(t)
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return strings.Contains(i.Path.Value, "/internal/") }) {
			programs[filepath.Base(filepath.Dir(name))] = file
		}
	}
	if len(programs) == 0 {
		t.Fatal("no programs")
	}
	return programs
}

// help compares the output of -h with the first sentence of the program's package comment.
func help(t *testing.T, all, name string, file *ast.File) {
	sentence, ok := strings.CutPrefix(new(doc.Package).Synopsis(file.Doc.Text()), "Command ")
	if !ok || !strings.HasPrefix(sentence, name+" ") {
		t.Errorf("the package comment begins with %q", sentence)
	}
	output := run(t, all, name, "-h")
	if help := strings.Join(strings.Fields(output), " "); !strings.HasPrefix(help, sentence) {
		t.Errorf("-h prints\n%s\nwant\n%s", output, sentence)
	}
}
