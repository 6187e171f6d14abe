package cmdline

import (
	"bytes"
	"errors"
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseAcceptsOnlyFlags(t *testing.T) {
	for _, c := range []struct {
		args  string
		want  error
		print string // part of the output; "" if nothing is printed
	}{
		{"", nil, ""},
		{"-level WARN", nil, ""},
		{"--", nil, ""},
		{"WARN", errArgument, `unexpected argument "WARN"`},
		{"-level WARN more", errArgument, `"more"`},
		{"-- -level", errArgument, `"-level"`},
		{"-h", flag.ErrHelp, "logs finds errors.\n\nUsage: logs [flags]\n  -level level"},
	} {
		var out bytes.Buffer
		flags := flag.NewFlagSet("logs", flag.ContinueOnError)
		flags.SetOutput(&out)
		flags.String("level", "ERROR", "of this `level`")
		if err := parse(flags, "logs finds errors.", strings.Fields(c.args)); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.args, err, c.want)
		}
		if got := out.String(); !strings.Contains(got, c.print) || (c.print == "") != (got == "") {
			t.Errorf("%q prints %q", c.args, got)
		}
	}
}

// TestHelpOfEveryExampleDescribesIt compares the output of -h with the first sentence of the program's package comment.
// Recipes, which import nothing that another module cannot import, have no flags.
func TestHelpOfEveryExampleDescribesIt(t *testing.T) {
	files, err := filepath.Glob("../../*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", bin+string(filepath.Separator))
	programs := make(map[string]*ast.File)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return strings.Contains(i.Path.Value, "/internal/") }) {
			programs[filepath.Base(filepath.Dir(name))] = file
			build.Args = append(build.Args, filepath.Dir(name))
		}
	}
	if output, err := build.CombinedOutput(); err != nil || len(programs) == 0 {
		t.Fatalf("%d programs: %v\n%s", len(programs), err, output)
	}
	for name, file := range programs {
		t.Run(name, func(t *testing.T) {
			sentence, ok := strings.CutPrefix(new(doc.Package).Synopsis(file.Doc.Text()), "Command ")
			if !ok || !strings.HasPrefix(sentence, name+" ") {
				t.Errorf("the package comment begins with %q", sentence)
			}
			output, err := exec.CommandContext(t.Context(), filepath.Join(bin, name), "-h").CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, output)
			}
			if help := strings.Join(strings.Fields(string(output)), " "); !strings.HasPrefix(help, sentence) {
				t.Errorf("-h prints\n%s\nwant\n%s", output, sentence)
			}
		})
	}
}
