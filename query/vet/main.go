// Command vet reports mistakes in hand-written programs on aztables and azqueue: filters that scan tables, values that change
// filters, loops that stop before the last page, updates that overwrite those of others.
//
//	vet ./...                       # checks packages
//	vet -fix ./...                  # and applies the suggested fixes
//	vet -json ./...                 # writes the findings as JSON
//	vet -explain tablescan          # explains a rule; without a name it lists the rules
//	go vet -vettool=$(which vet) ./...
//
// It exits with status 0 if it finds nothing, 3 if it has findings, and 1 if a package cannot be loaded.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/packages"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
	"github.com/azpatterns/azpatterns/query/vet/rules"
)

func main() {
	if len(os.Args) > 1 && strings.TrimLeft(os.Args[1], "-") == "explain" && strings.HasPrefix(os.Args[1], "-") {
		if err := explain(os.Stdout, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "vet:", err)
			os.Exit(2)
		}
		return
	}
	os.Args = slices.Concat(os.Args[:1], narrowed(os.Args[1:]))
	multichecker.Main(rules.Analyzers()...)
}

// narrowed returns the arguments with the packages that import aztables or azqueue in the place of their patterns, so that no
// other package is compiled or parsed. If there are none, the first package remains. If a package cannot be listed, the
// arguments are unchanged, and the analysis reports why.
func narrowed(args []string) []string {
	flags := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if flags < 0 || strings.HasSuffix(args[flags], ".cfg") { // no patterns: the go command calls its vet tool like this
		return args
	}
	const mode = packages.NeedName | packages.NeedImports | packages.NeedForTest
	listed, err := packages.Load(&packages.Config{Mode: mode, Tests: true}, args[flags:]...)
	if err != nil || len(listed) == 0 {
		return args
	}
	users := []string{listed[0].PkgPath}
	for _, p := range listed {
		if len(p.Errors) > 0 || p.PkgPath == "command-line-arguments" { // the latter is the name of a list of files
			return args
		}
		if p.Imports[source.Tables] != nil || p.Imports[source.Queues] != nil {
			users = append(users, cmp.Or(p.ForTest, p.PkgPath))
		}
	}
	if len(users) > 1 {
		users = users[1:]
	}
	slices.Sort(users)
	return slices.Concat(args[:flags], slices.Compact(users))
}

// explain writes the pages of the named rules, or the list of all rules if there are no names.
func explain(w io.Writer, names []string) error {
	if len(names) == 0 {
		for _, r := range rules.All() {
			title, _, _ := strings.Cut(strings.TrimPrefix(r.Page(), "# "), "\n")
			fmt.Fprintf(w, "%-14s %-9s %s\n", r.Name, r.Severity, strings.TrimPrefix(title, r.Name+": "))
		}
		return nil
	}
	for _, name := range names {
		r := rules.Named(name)
		if r == nil {
			return fmt.Errorf("there is no rule %q; vet -explain lists the rules", name)
		}
		fmt.Fprintf(w, "%s\nSeverity: %s\n", r.Page(), r.Severity)
	}
	return nil
}
