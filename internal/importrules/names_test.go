package importrules

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// engine are the packages below internal that a program with a Store links, except internal/azerr and other small ones
// whose names are those of the packages above them.
var engine = []string{"calls", "edm", "fetch", "jsonmerge", "limit", "outbox", "pages", "records", "sweep", "target", "txn", "view", "widerow", "wire"}

// namesakes are names of types, in lower case, that several packages of the engine have, with the reason.
var namesakes = map[string]string{
	"bulk":        "outbox.Bulk fills transactions of entities with their rows, as txn.Bulk does without",
	"chooser":     "records.chooser implements edm.Chooser",
	"field":       "edm.Field is what other packages see of edm.field",
	"kind":        "edm.kind is how fields of a Go kind are stored; wire.Kind is what a write does",
	"origin":      "widerow.Origin is txn.Origin of an entity that takes several rows",
	"pagedecoder": "records.pageDecoder implements fetch.PageDecoder",
	"record":      "widerow.Record is txn.Record of an entity that takes several rows",
	"sweeper":     "outbox and widerow have a sweep each",
	"table":       "widerow.Table is txn.Table of entities that take several rows",
}

func TestATypeNameOfTheEngineMeansOneThing(t *testing.T) {
	found := map[string][]string{}
	eachType(t, "internal", func(pkg string, spec *ast.TypeSpec) {
		if pkg, _ := strings.CutPrefix(pkg, "internal/"); slices.Contains(engine, pkg) && !spec.Assign.IsValid() { // an alias means the same
			name := strings.ToLower(spec.Name.Name)
			found[name] = append(found[name], pkg+"."+spec.Name.Name)
		}
	})
	if len(found) < 100 {
		t.Fatalf("%d names were found", len(found))
	}
	for name, all := range found {
		if len(all) > 1 && namesakes[name] == "" {
			t.Errorf("%s: types of one name: rename all but one", strings.Join(all, ", "))
		}
	}
	for name := range namesakes {
		if len(found[name]) < 2 {
			t.Errorf("%s: remove the exception", name)
		}
	}
}
