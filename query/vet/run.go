package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
	"github.com/azpatterns/azpatterns/query/vet/rules"
)

// run checks the packages that args name, and returns the exit status. Unlike multichecker it reads only the packages of the
// program that have to do with the SDK, takes the types of all others from the build cache, and does not repeat the errors of the
// compiler.
func run(stdout, stderr io.Writer, args []string) int {
	flags := flag.NewFlagSet("vet", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "write the findings as JSON")
	context := flags.Int("c", -1, "write each finding with this number of lines around it")
	tests := flags.Bool("test", true, "check test files too")
	for _, r := range rules.All() {
		flags.Bool(r.Name, false, "run only the rules that are named like this; with =false all others")
	}
	if err := flags.Parse(args); err != nil {
		return 1
	}
	p, err := survey(flags.Args(), *tests)
	var loaded []*packages.Package
	if err == nil {
		loaded, err = p.load(flags.Args(), *tests)
	}
	if err != nil {
		fmt.Fprintln(stderr, "vet:", err)
		return 1
	}
	graph, err := checker.Analyze(selected(args), loaded, nil)
	if err != nil {
		fmt.Fprintln(stderr, "vet:", err)
		return 1
	}
	graph.Roots = slices.DeleteFunc(graph.Roots, func(act *checker.Action) bool { return !p.targets[pathOf(act.Package)] })
	if *asJSON {
		err = graph.PrintJSON(stdout)
	} else {
		err = graph.PrintText(stderr, *context)
	}
	broken := reportErrors(stderr, slices.Concat(p.listed, loaded))
	found := slices.ContainsFunc(graph.Roots, func(act *checker.Action) bool { return len(act.Diagnostics) > 0 })
	switch {
	case err != nil:
		return 1
	case found && !*asJSON:
		return 3
	case broken && !found:
		return 1
	}
	return 0
}

// selected returns the analyzers of the rules that the flags among args select, as multichecker does: those that are named, or
// without one, all that are on by default and not switched off. The driver of go vet learns the flags of all of them first.
func selected(args []string) (chosen []*analysis.Analyzer) {
	has := func(r *rules.Rule, on bool) bool {
		return slices.ContainsFunc(args, func(arg string) bool {
			name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			return arg[:min(1, len(arg))] == "-" && name == r.Name && on == (value == "" || value == "true" || value == "1")
		})
	}
	all := slices.Contains(args, "-flags")
	only := slices.ContainsFunc(rules.All(), func(r *rules.Rule) bool { return has(r, true) })
	for _, r := range rules.All() {
		if all || has(r, true) || !only && !has(r, false) && !r.Off {
			chosen = append(chosen, r.Analyzer())
		}
	}
	return chosen
}

// pathOf returns the path of a package, and for its tests that of the package which they test.
func pathOf(p *packages.Package) string { return cmp.Or(p.ForTest, p.PkgPath) }

// A program is the packages that args name, as far as they have to do with the SDK.
type program struct {
	targets map[string]bool   // paths of the packages to check
	needed  map[string]string // paths by id, also of the packages that the targets import
	listed  []*packages.Package
}

func survey(args []string, tests bool) (*program, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedForTest
	listed, err := packages.Load(&packages.Config{Mode: mode, Tests: tests}, args...)
	if err == nil && len(listed) == 0 {
		err = errors.New("no packages match the arguments")
	}
	p := &program{map[string]bool{}, map[string]string{}, listed}
	known := map[*packages.Package]bool{}
	var uses func(*packages.Package) bool
	uses = func(pkg *packages.Package) bool {
		used, seen := known[pkg]
		if !seen {
			used = source.IsSDK(pkg.PkgPath) || isLocal(pkg) && slices.ContainsFunc(slices.Collect(maps.Values(pkg.Imports)), uses)
			known[pkg] = used
		}
		return used
	}
	for _, pkg := range listed {
		if isLocal(pkg) && uses(pkg) {
			p.targets[pathOf(pkg)] = true
			p.need(pkg)
		}
	}
	return p, err
}

func (p *program) need(pkg *packages.Package) {
	if !isLocal(pkg) || p.needed[pkg.ID] != "" {
		return
	}
	p.needed[pkg.ID] = pathOf(pkg)
	for _, imported := range pkg.Imports {
		p.need(imported)
	}
}

// isLocal reports whether a package belongs to the program, not to another module or the standard library.
func isLocal(p *packages.Package) bool {
	return len(p.GoFiles) > 0 && !source.IsForeign(p.GoFiles[0]) && !strings.HasSuffix(p.PkgPath, ".test")
}

// load loads the packages to check, and those of the program that they import.
func (p *program) load(args []string, tests bool) ([]*packages.Package, error) {
	if !p.targets[listOfFiles] {
		args = slices.Compact(slices.Sorted(maps.Values(p.needed)))
	}
	if len(args) == 0 {
		return nil, nil
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule | packages.NeedForTest, Tests: tests}, args...)
	for _, pkg := range loaded { // the facts of other packages are not known
		maps.DeleteFunc(pkg.Imports, func(_ string, imported *packages.Package) bool { return !slices.Contains(loaded, imported) })
	}
	return loaded, err
}

// listOfFiles is the path of the package that a list of files is.
const listOfFiles = "command-line-arguments"

// reportErrors writes one line about the packages that have errors, and reports whether there are any.
func reportErrors(w io.Writer, loaded []*packages.Package) bool {
	first := ""
	broken := map[string]bool{}
	for _, p := range loaded {
		for _, e := range p.Errors {
			broken[pathOf(p)] = true
			if first == "" || e.Kind == packages.TypeError && !strings.Contains(first, ".go:") {
				first, _, _ = strings.Cut(e.Error(), "\n")
			}
		}
	}
	if len(broken) > 0 {
		fmt.Fprintf(w, "vet: packages with errors, checked as far as their types are known: %d; the first error: %s\n", len(broken), first)
	}
	return len(broken) > 0
}
