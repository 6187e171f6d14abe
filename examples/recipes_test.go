package examples

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
)

var update = flag.Bool("update", false, "write the recipes of README.md")

// recipes are in the order of the design guide.
var recipes = []struct{ folder, title string }{
	{"secondaryindex/intra", "Secondary index within a partition"},
	{"secondaryindex/inter", "Secondary index between partitions"},
	{"lookup", "Lookup rows: an index over partitions without a worker"},
	{"expiry", "Entities that expire: sessions with a sliding time"},
	{"history", "History of each entity, and undoing a change"},
	{"feed", "Feed of changes: views outside tables"},
	{"eventual", "Eventually consistent transaction"},
	{"indexentity", "Index entities, in three variants"},
	{"denormalize", "Denormalisation"},
	{"compoundkey", "Compound key"},
	{"logtail", "Log tail"},
	{"highvolumedelete", "High-volume delete"},
	{"dataseries", "Data series"},
	{"wideentity", "Wide entities"},
	{"largeentity", "Large entities"},
	{"spread", "Prepend/append: a hot partition"},
	{"logdata", "Log data"},
	{"entitytype", "Heterogeneous entity types"},
	{"encryption", "Encrypted properties that are found"},
	{"access", "Shared access signature for one user"},
	{"httpapi", "HTTP API with cursors, 404, 409 and 412"},
}

// recipe is what the files of a recipe contain.
type recipe struct {
	doc     string // what the command does, and its problem: the first two paragraphs of its comment
	imports []string
	lines   int
	bound   []string // what keeps its functions from being copied: see bound
	output  string
}

func read(t *testing.T, folder string) recipe {
	t.Helper()
	fset := token.NewFileSet()
	parse := func(name string) *ast.File {
		file := assert.Must(parser.ParseFile(fset, filepath.Join(folder, name), nil, parser.ParseComments))(t)
		return file
	}
	program := parse("main.go")
	paragraphs := strings.SplitN(program.Doc.Text(), "\n\n", 3)
	command := "Command " + filepath.Base(folder) + " "
	if len(paragraphs) < 3 || !strings.HasPrefix(paragraphs[0], command) || !strings.HasPrefix(paragraphs[1], "Problem: ") {
		t.Fatalf("%s: the comment does not begin with what the command does and its problem", folder)
	}
	summary := strings.TrimPrefix(paragraphs[0], command)
	summary = strings.ToUpper(summary[:1]) + summary[1:] + "\n\n" + paragraphs[1]
	r := recipe{doc: summary, lines: fset.File(program.Pos()).LineCount(), bound: bound(program)}
	for _, spec := range program.Imports {
		r.imports = append(r.imports, strings.Trim(spec.Path.Value, `"`))
	}
	r.output = outputOf(t, folder)
	return r
}

func TestARecipeIsOneShortFileWithoutHelpers(t *testing.T) {
	for _, listed := range recipes {
		r := read(t, listed.folder)
		files, err := filepath.Glob(filepath.Join(listed.folder, "*"))
		if err != nil || len(files) != 2 {
			t.Errorf("%s: files %v instead of main.go and output.txt: %v", listed.folder, files, err)
		}
		if r.lines >= 150 {
			t.Errorf("%s has %d lines", listed.folder, r.lines)
		}
		for _, imported := range r.imports {
			if strings.Contains(imported, "internal/") {
				t.Errorf("%s imports %s, which another module cannot import", listed.folder, imported)
			}
		}
		if len(r.bound) > 0 {
			t.Errorf("%s: only main may know the account or print, not %v", listed.folder, r.bound)
		}
	}
}

// bound returns what a file uses outside of main of the account and to print: with it, a function cannot be copied into a
// service as it is.
func bound(file *ast.File) (uses []string) {
	paths := make(map[string]string) // by the names of the imports
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		paths[name] = imported
	}
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "main" {
			continue
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); ok {
				use := path.Base(paths[of.Name]) + "." + selector.Sel.Name
				if forbidden.MatchString(use) {
					uses = append(uses, use)
				}
			}
			return true
		})
	}
	return uses
}

var forbidden = regexp.MustCompile(`^(storagetest|log|slog)\.|^fmt\.(Print|Fprint)|^os\.Std`)

func TestWhatIsBoundIsFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "planted.go", `package main

import (
	"fmt"
	"log"
	"os"
	st "github.com/azpatterns/azpatterns/patterns/storagetest"
)

type steps struct{ acct *st.Account }

var show = func(step string) { fmt.Println(step) }

func (steps) main() { log.Print("a method is not the main of the program") }

func step(ctx context.Context) error {
	acct := st.Start(nil)
	fmt.Fprintf(os.Stderr, "%v", acct)
	return fmt.Errorf("%w: %s", err, fmt.Sprint(acct))
}

func main() { fmt.Println(st.Start(nil)) }
`, 0)
	assert.NoError(t, err)
	want := []string{"storagetest.Account", "fmt.Println", "log.Print", "storagetest.Start", "fmt.Fprintf", "os.Stderr"}
	if got := bound(file); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheReadmeOfTheModuleLinksEveryRecipe(t *testing.T) {
	readme := assert.Must(os.ReadFile(filepath.Join("..", "README.md")))(t)
	for _, listed := range recipes {
		if !strings.Contains(string(readme), "](examples/"+listed.folder+")") {
			t.Errorf("README.md does not link examples/%s", listed.folder)
		}
	}
}

const (
	begin = "<!-- Generated: go test ./examples -update -->\n"
	end   = "<!-- End of generated text -->\n"
)

// step matches a step of an output and its requests, or a title over several steps.
var step = regexp.MustCompile(`(?m)^(\S.*?) +requests: (\d+)|^(\S.*:)$`)

// costs returns the requests of each step of an output, as a cell of a table.
func costs(output string) string {
	var cell strings.Builder
	separator := ""
	for _, s := range step.FindAllStringSubmatch(output, -1) {
		if title := s[3]; title != "" {
			if cell.Len() > 0 {
				cell.WriteString("<br>")
			}
			cell.WriteString(title)
			separator = " "
			continue
		}
		cell.WriteString(separator + s[1] + " **" + s[2] + "**")
		separator = "; "
	}
	return cell.String()
}

// The outputs that the README prints are those that a test verifies.
func TestTheReadmePrintsTheOutputsOfTheRecipes(t *testing.T) {
	var table, sections strings.Builder
	for i, listed := range recipes {
		r := read(t, listed.folder)
		cost := costs(r.output)
		if !strings.Contains(cost, "**") {
			t.Errorf("%s prints no number of requests", listed.folder)
		}
		fmt.Fprintf(&table, "| %d | [%s](%s/main.go) | %s |\n", i+1, listed.title, listed.folder, cost)
		fmt.Fprintf(&sections, "\n### %d. %s\n\n%s\n\n```\n$ go run ./examples/%s\n%s\n```\n",
			i+1, listed.title, r.doc, listed.folder, strings.TrimSpace(r.output))
	}
	want := "| | pattern | requests of each step |\n|--:|---|---|\n" + table.String() + sections.String()

	content := assert.Must(os.ReadFile("README.md"))(t)
	before, rest, found := strings.Cut(string(content), begin)
	got, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("README.md has no generated text")
	}
	if *update {
		assert.NoError(t, os.WriteFile("README.md", []byte(before+begin+want+end+after), 0o644))
	} else if got != want {
		t.Errorf("run go test ./examples -update\ngot\n%s\nwant\n%s", got, want)
	}
}

// A recipe that is copied into an empty module builds and prints the same output.
func TestACopiedRecipeRunsInAnotherModule(t *testing.T) {
	t.Parallel()
	root := assert.Must(filepath.Abs(".."))(t)
	const module = "module github.com/azpatterns/azpatterns\n"
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(mod), module) {
		t.Fatalf("go.mod begins with another module: %v", err)
	}
	sum := assert.Must(os.ReadFile(filepath.Join(root, "go.sum")))(t)
	dir := t.TempDir()
	require := "\nrequire github.com/azpatterns/azpatterns v0.0.0\n\nreplace github.com/azpatterns/azpatterns => " + root + "\n"
	write(t, filepath.Join(dir, "go.mod"), "module copied\n"+strings.TrimPrefix(string(mod), module)+require)
	write(t, filepath.Join(dir, "go.sum"), string(sum))
	copied := []string{"secondaryindex/intra", "eventual", "httpapi"}
	for _, folder := range copied {
		file := assert.Must(os.ReadFile(filepath.Join(folder, "main.go")))(t)
		write(t, filepath.Join(dir, folder, "main.go"), string(file))
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-ldflags=-s -w", "-o", filepath.Join(dir, "bin")+string(filepath.Separator), "./...")
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, folder := range copied {
		if got := run(t, filepath.Join(dir, "bin", filepath.Base(folder)), folder); got != outputOf(t, folder) {
			t.Errorf("%s prints\n%s", folder, got)
		}
	}
}
