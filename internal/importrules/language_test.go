package importrules

import (
	"fmt"
	"github.com/azpatterns/azpatterns/internal/assert"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

func TestTheLanguageIsPlain(t *testing.T) {
	root, err := filepath.Abs("../..")
	assert.NoError(t, err)
	checked := 0
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		within, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		within = filepath.ToSlash(within)
		if entry.IsDir() {
			if name := entry.Name(); name == ".git" || name == "node_modules" || name == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !hasLanguage(within) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		checked++
		for _, finding := range proofread(within, text) {
			t.Error(finding)
		}
		return nil
	})
	assert.NoError(t, err)
	if checked == 0 {
		t.Error("no file was checked")
	}
}

// hasLanguage reports whether a file is to be checked. The list of words contains every word that it forbids.
func hasLanguage(file string) bool {
	switch file {
	case "internal/importrules/words_test.go", "internal/importrules/language_test.go":
		return false
	}
	return path.Ext(file) == ".go" || path.Ext(file) == ".md"
}

func TestTheLanguageTestFindsAPlantedWord(t *testing.T) {
	const fixture = `// Package fixture gives a value.
package fixture

import "errors"

// Run waits until the rows
// are written at
// once, and returns.
func Run(giveUp func()) (n int, err error) {
	for wakeup := range 3 { // healthy
		n += wakeup
	}
	return n, errors.New("the row is told of it")
}

type testbed struct{ at int }

func TestNobodyWaits() {}
`
	want := []string{
		`keys/fixture.go:1: "gives"`,
		`keys/fixture.go:7: "at once"`,
		`keys/fixture.go:9: "giveUp"`,
		`keys/fixture.go:10: "wakeup"`,
		`keys/fixture.go:13: "told"`,
		`keys/fixture.go:16: "testbed"`,
		`keys/fixture.go:18: "TestNobodyWaits"`,
	}
	found := proofread("keys/fixture.go", []byte(fixture))
	assert.Equal(t, len(found), len(want), "found", strings.Join(found, "\n"))
	for i := range min(len(found), len(want)) {
		if !strings.HasPrefix(found[i], want[i]+": write ") {
			t.Errorf("found %s, want %s", found[i], want[i])
		}
	}
	if found := proofread("README.md", []byte("# Title\n\nThe copy is\nwritten for\ngood.\n")); len(found) != 1 || !strings.HasPrefix(found[0], `README.md:4: "for good"`) {
		t.Errorf("found %q", found)
	}
	if found := proofread("README.md", []byte("`giveUp` is `release`.\n")); len(found) != 0 {
		t.Errorf("found %q", found)
	}
	if found := proofread("keys/again_test.go", []byte("package keys\n")); len(found) != 1 || !strings.HasPrefix(found[0], `keys/again_test.go:1: "again_test"`) {
		t.Errorf("found %q", found)
	}
}

func TestTheLanguageTestPassesPlainSentences(t *testing.T) {
	const fixture = `// Package fixture returns a value. Given a row, Run returns its key immediately, and retries when the
// write conflicts. No one else holds the lease. The outbox message is stored in the queue.
package fixture

import "errors"

// Run understands "forgive", "goods", "amend" and "standard".
func Run(understand, forgiven int) error {
	places := map[string]int{"gives": 1} // a word alone is data
	_ = places
	return errors.New("the row does not exist")
}
`
	if found := proofread("keys/fixture.go", []byte(fixture)); len(found) > 0 {
		t.Errorf("found\n%s", strings.Join(found, "\n"))
	}
}

// proofread returns a message for each forbidden word in a Markdown file, or in the comments, string literals and
// declared names of a Go file, in the order of lines. String literals without a space are data.
func proofread(file string, text []byte) []string {
	r := &reading{file: file}
	if path.Ext(file) == ".go" {
		r.goFile(text)
	} else {
		r.prose(strings.Split(codeSpan.ReplaceAllString(string(text), "code"), "\n"), 1)
	}
	sort.SliceStable(r.found, func(i, j int) bool { return r.found[i].line < r.found[j].line })
	messages := make([]string, len(r.found))
	for i, f := range r.found {
		messages[i] = fmt.Sprintf("%s:%d: %q: write %s", file, f.line, f.word, f.instead)
	}
	return messages
}

// codeSpan matches code within a line of Markdown: the changelog lists former names.
var codeSpan = regexp.MustCompile("`[^`\n]+`")

type reading struct {
	file  string
	found []finding
}

type finding struct {
	line          int
	word, instead string
}

func (r *reading) goFile(text []byte) {
	r.name(strings.TrimSuffix(path.Base(r.file), ".go"), 1)
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, r.file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		r.found = append(r.found, finding{1, err.Error(), "valid Go"})
		return
	}
	for _, group := range parsed.Comments {
		var lines []string
		for _, comment := range group.List {
			for _, line := range strings.Split(comment.Text, "\n") {
				lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(line, "//"), "/*"))
			}
		}
		r.prose(lines, positions.Position(group.Pos()).Line)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if value, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(value, " ") {
				// An interpreted string is in one line of the file, whatever line breaks it contains.
				lines := []string{strings.ReplaceAll(value, "\n", " ")}
				if literal.Value[0] == '`' {
					lines = strings.Split(value, "\n")
				}
				r.prose(lines, positions.Position(literal.Pos()).Line)
			}
		}
		for _, id := range declared(n) {
			r.name(id.Name, positions.Position(id.Pos()).Line)
		}
		return true
	})
}

// declared returns the identifiers that n itself declares.
func declared(n ast.Node) []*ast.Ident {
	var expressions []ast.Expr
	switch n := n.(type) {
	case *ast.File:
		return []*ast.Ident{n.Name}
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.ValueSpec:
		return n.Names
	case *ast.Field:
		return n.Names
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			expressions = n.Lhs
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			expressions = []ast.Expr{n.Key, n.Value}
		}
	}
	var names []*ast.Ident
	for _, e := range expressions {
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id)
		}
	}
	return names
}

// prose checks running text: a phrase may continue on the next line.
func (r *reading) prose(lines []string, first int) {
	var text strings.Builder
	starts := make([]int, len(lines))
	for i, line := range lines {
		starts[i] = text.Len()
		for word := range strings.FieldsSeq(line) {
			text.WriteString(word)
			text.WriteByte(' ')
		}
	}
	for _, w := range inText {
		for _, at := range w.pattern.FindAllStringIndex(text.String(), -1) {
			line := sort.Search(len(starts), func(i int) bool { return starts[i] > at[0] }) - 1
			r.found = append(r.found, finding{first + line, text.String()[at[0]:at[1]], w.instead})
		}
	}
}

// name checks an identifier or the name of a file, word by word: giveUp is "give up".
func (r *reading) name(name string, line int) {
	words := splitName(name)
	for _, list := range [][]word{inText, inNames} {
		for _, w := range list {
			if w.pattern.MatchString(words) {
				r.found = append(r.found, finding{line, name, w.instead})
				return
			}
		}
	}
}

// splitName splits a name at underscores, and where an upper case letter starts a word.
func splitName(name string) string {
	var words strings.Builder
	previous := ' '
	for _, c := range name {
		if unicode.IsUpper(c) && unicode.IsLower(previous) || c == '_' {
			words.WriteByte(' ')
		}
		if c != '_' {
			words.WriteRune(unicode.ToLower(c))
		}
		previous = c
	}
	return words.String()
}

// word is what the project does not write, and what it writes instead.
type word struct {
	pattern *regexp.Regexp
	instead string
}

func words(pairs [][2]string) []word {
	list := make([]word, len(pairs))
	for i, p := range pairs {
		list[i] = word{regexp.MustCompile(`(?i)\b(?:` + p[0] + `)\b`), p[1]}
	}
	return list
}
