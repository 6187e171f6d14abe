package op

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

func TestEveryOperationIsInTheTable(t *testing.T) {
	file := assert.Must(parser.ParseFile(token.NewFileSet(), "op.go", nil, 0))(t)
	names := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil || spec.Type.(*ast.Ident).Name != "Op" {
			return true
		}
		name := assert.Must(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
		names++
		if _, ok := table[Op(name)]; !ok || !Named(name) {
			t.Errorf("%s is not in the table", name)
		}
		return true
	})
	assert.Equal(t, names, len(table), "constants", "entries")
}

func TestAReadOnlyOperationHasTheNameOfARead(t *testing.T) {
	for o := range table {
		_, action, _ := strings.Cut(string(o), ".")
		reads := o != QueueGet
		switch {
		case strings.HasPrefix(action, "Get"), strings.HasPrefix(action, "List"):
		case action == "Query", action == "Peek", action == "Head", action == "Stats":
		default:
			reads = false
		}
		assert.Equal(t, o.ReadOnly(), reads, o)
	}
}

func TestOnlyTheseOperationsCannotBePermitted(t *testing.T) {
	for o := range table {
		reserved := strings.HasSuffix(string(o), "ACL") || strings.HasSuffix(string(o), ".Other") || o == Unknown || o == TableBatch
		if (o.Access().Account == "") != reserved {
			t.Errorf("%s needs %q of an account SAS", o, o.Access().Account)
		}
		if a, ok := o.AccessToCreate(); ok && (a.Account != "cw" || a.Service != "cw") {
			t.Errorf("%s needs %+v to create", o, a)
		}
	}
	if a, ok := BlobLease.AccessToBreakLease(); !ok || a.Account != "wd" || a.Service != "wd" {
		t.Errorf("to break the lease of a blob: %+v", a)
	}
	if a, ok := BlobLeaseContainer.AccessToBreakLease(); !ok || a.Account != "wd" || a.Service != "" {
		t.Errorf("to break the lease of a container: %+v", a)
	}
}

func TestPatternsMatchOperations(t *testing.T) {
	for pattern, named := range map[string]bool{
		"*": true, "Table.*": true, "Blob.Put*": true, "Table.Insert": true, "Unknown": true,
		"": false, "[": false, "Tabel.Insert": false, "table.insert": false, "Table": false, "Blob.*Message": false,
	} {
		assert.Equal(t, Named(pattern), named, "Named", pattern, "is", !named)
	}
	if !TableInsert.Matches("*.Insert") || TableInsert.Matches("Queue.*") || Other(Blob) != BlobOther || Other("") != Unknown {
		t.Error("wrong match")
	}
}
