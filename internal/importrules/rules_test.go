package importrules

import (
	"fmt"
	"slices"
	"strings"
)

// pkg is what `go list` reports about a package.
type pkg struct {
	ImportPath     string
	GoFiles        []string
	IgnoredGoFiles []string // for other systems
	Imports        []string // of the package itself, without its tests
	Deps           []string // and all that those import
}

// path returns the path of a package relative to the module.
func (p pkg) path() string { return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/") }

// breaches returns everything in p that the rules forbid.
func breaches(p pkg) []string {
	var found []string
	for _, imported := range ownImports(p) {
		if !slices.Contains(edges[p.path()], imported) {
			found = append(found, fmt.Sprintf("%s must not import %s: no such edge in edges_test.go", p.path(), imported))
		}
	}
	for _, path := range engineOnly {
		if within(p.path(), "patterns/...") && p.path() != "patterns" && slices.Contains(p.Imports, module+"/"+path) {
			found = append(found, fmt.Sprintf("%s must not import %s: it is a pattern package", p.path(), path))
		}
	}
	if slices.Contains(pure, p.path()) {
		if i := slices.IndexFunc(p.Deps, isIn("github.com/Azure")); i >= 0 {
			found = append(found, fmt.Sprintf("%s must not link %s: it is a pure package", p.path(), p.Deps[i]))
		}
	}
	for prefix, users := range heavy {
		if slices.ContainsFunc(users, func(user string) bool { return within(p.path(), user) }) {
			continue
		}
		if i := slices.IndexFunc(p.Deps, isIn(prefix)); i >= 0 {
			found = append(found, fmt.Sprintf("%s must not link %s", p.path(), p.Deps[i]))
		}
	}
	if n := files(p); n > maxFiles {
		found = append(found, fmt.Sprintf("%s has %d files, more than %d: split it", p.path(), n, maxFiles))
	}
	return found
}

// leftovers returns the rules that no package needs.
func leftovers(packages []pkg) []string {
	imports := map[string][]string{}
	for _, p := range packages {
		imports[p.path()] = ownImports(p)
	}
	var found []string
	for from, targets := range edges {
		for _, to := range targets {
			if !slices.Contains(imports[from], to) {
				found = append(found, fmt.Sprintf("%s does not import %s: remove the edge", from, to))
			}
		}
		if !slices.IsSorted(targets) {
			found = append(found, fmt.Sprintf("the edges of %s are not sorted", from))
		}
	}
	for prefix, users := range heavy {
		for _, user := range users {
			links := func(p pkg) bool {
				return within(p.path(), user) && slices.ContainsFunc(append(p.Deps, p.ImportPath), isIn(prefix))
			}
			if !slices.ContainsFunc(packages, links) {
				found = append(found, fmt.Sprintf("%s does not link %s: remove it from the list", user, prefix))
			}
		}
	}
	return found
}

// ownImports returns the packages of the module that p imports.
func ownImports(p pkg) []string {
	var own []string
	for _, imported := range p.Imports {
		if path, ok := strings.CutPrefix(imported, module+"/"); ok {
			own = append(own, path)
		}
	}
	return own
}

// files returns the number of Go files of p, without its tests, on all systems.
func files(p pkg) int {
	n := len(p.GoFiles)
	for _, name := range p.IgnoredGoFiles {
		if !strings.HasSuffix(name, "_test.go") {
			n++
		}
	}
	return n
}

// isIn returns a function that reports whether a package is prefix or below it.
func isIn(prefix string) func(string) bool {
	return func(path string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }
}

// within reports whether path is user, or below it if user ends in "/...".
func within(path, user string) bool {
	root, tree := strings.CutSuffix(user, "/...")
	return path == root || tree && strings.HasPrefix(path, root+"/")
}
