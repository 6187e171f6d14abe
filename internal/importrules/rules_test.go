package importrules

import (
	"fmt"
	"slices"
	"strings"
)

const (
	module  = "github.com/azpatterns/azpatterns"
	azqueue = "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	azblob  = "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azident = "github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// layer is a set of packages of the module and the layers that they may import.
type layer struct {
	name    string
	member  func(path string) bool // path within the module
	imports []string
}

// layers are tried in order: a package belongs to the first that has it.
var layers = []layer{
	{"keys", is("keys"), nil},
	{"errtext", under("internal/errtext"), nil},
	{"query", is("query"), []string{"keys", "errtext"}},
	{"wire", under("internal/wire"), []string{"errtext"}},
	{"parallel", under("internal/parallel"), nil},
	{"cursor", under("internal/cursor"), nil},
	{"testkit", isTestkit, []string{"emulator", "fault", "testkit"}},
	{"emulator", under("internal/emulator"), []string{"keys", "query", "emulator"}},
	{"fault", under("internal/fakeaccount/fault"), []string{"emulator"}},
	{"azurite", under("internal/azurite"), nil},
	{"core", is("patterns"), []string{"keys", "query", "wire", "parallel", "cursor", "errtext"}},
	{"indexed", under("internal/indexed"), []string{"keys", "wire", "core"}},
	{"storagetest", under("patterns/storagetest"), []string{"keys", "query", "emulator", "fault"}},
	{"pattern", under("patterns"), []string{"keys", "query", "wire", "parallel", "cursor", "errtext", "indexed", "core"}},
	{"example", under("examples"), []string{
		"keys", "query", "wire", "parallel", "cursor", "fault", "emulator", "azurite", "core", "storagetest", "pattern", "example", "tool"}},
	{"tool", under("internal"), []string{ // test beds, benchmarks, checks
		"keys", "query", "wire", "parallel", "cursor", "fault", "emulator", "azurite", "core", "storagetest", "pattern", "tool"}},
}

// heavy are the modules that a program links only when it uses what needs them, and the layers and packages that may.
var heavy = map[string][]string{
	azqueue: {"storagetest", "tool", "example", "patterns/eventual", "patterns/reindex"},
	azblob: {"storagetest", "tool", "example", "patterns/eventual", "patterns/indexentity", "patterns/largeentity",
		"patterns/logdata"},
	azident:                      {"example"},
	"testing":                    {"storagetest", "azurite", "testkit", "tool", "example"},
	"pgregory.net/rapid":         {},
	module + "/internal/azurite": {"azurite", "tool", "example"},
}

func is(path string) func(string) bool { return func(p string) bool { return p == path } }

// isTestkit tells the packages that help the tests of an internal package, as net/http/httptest does.
func isTestkit(p string) bool {
	return strings.HasPrefix(p, "internal/") && strings.HasSuffix(p, "test")
}

func under(prefix string) func(string) bool {
	return func(p string) bool {
		return strings.HasPrefix(p+"/", prefix+"/") && (p != prefix || prefix != "patterns")
	}
}

// pkg is what `go list` tells of a package.
type pkg struct {
	ImportPath string
	Imports    []string // of the package itself, without its tests
	Deps       []string // and all that those import
}

// breaches names every import that the layers or the heavy list forbid.
func breaches(p pkg) []string {
	within := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
	own, ok := layerOf(within)
	if !ok {
		return []string{p.ImportPath + " belongs to no layer: add it to the rules"}
	}
	var found []string
	for _, imported := range p.Imports {
		rest, ours := strings.CutPrefix(imported, module+"/")
		if !ours {
			continue
		}
		if target, ok := layerOf(rest); !ok || !slices.Contains(own.imports, target.name) {
			found = append(found, fmt.Sprintf("%s must not import %s", p.ImportPath, imported))
		}
	}
	for prefix, users := range heavy {
		if slices.Contains(users, own.name) || slices.Contains(users, within) {
			continue
		}
		for _, dep := range p.Deps {
			if dep == prefix || strings.HasPrefix(dep, prefix+"/") {
				found = append(found, fmt.Sprintf("%s must not link %s", p.ImportPath, dep))
			}
		}
	}
	return found
}

func layerOf(within string) (layer, bool) {
	i := slices.IndexFunc(layers, func(l layer) bool { return l.member(within) })
	if i < 0 {
		return layer{}, false
	}
	return layers[i], true
}
