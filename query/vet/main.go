// Command vet reports mistakes in hand-written programs on aztables and azqueue: filters that scan tables, values that change
// filters, loops that stop before the last page, updates that overwrite those of others.
//
//	vet ./...                       # checks packages
//	vet -fix ./...                  # and applies the suggested fixes
//	vet -json ./...                 # writes the findings as JSON
//	vet -explain tablescan          # explains a rule; without a name it lists the rules
//	go vet -vettool=$(which vet) ./...
//
// It exits with status 0 if it finds nothing, 3 if it has findings, and 1 if it has none and a package cannot be loaded or has
// errors.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/azpatterns/azpatterns/query/vet/rules"
)

func main() {
	args := os.Args[1:]
	switch {
	case len(args) > 0 && strings.HasPrefix(args[0], "-") && strings.TrimLeft(args[0], "-") == "explain":
		if err := explain(os.Stdout, args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "vet:", err)
			os.Exit(2)
		}
	case slices.ContainsFunc(args, isOfDriver):
		multichecker.Main(selected(args)...)
	default:
		os.Exit(run(os.Stdout, os.Stderr, args))
	}
}

// isOfDriver reports whether an argument is for the drivers of golang.org/x/tools: that of go vet, and the one that applies fixes.
func isOfDriver(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.HasSuffix(arg, ".cfg") || strings.HasPrefix(arg, "-") && slices.Contains([]string{"fix", "diff", "flags", "V", "debug", "help", "h"}, name)
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
