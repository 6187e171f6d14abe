package op

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

func TestEveryOperationIsInTheTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "op.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil || spec.Type.(*ast.Ident).Name != "Op" {
			return true
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		names++
		if _, ok := table[Op(name)]; !ok || !Named(name) {
			t.Errorf("%s is not in the table", name)
		}
		return true
	})
	if names != len(table) {
		t.Errorf("%d constants, %d entries", names, len(table))
	}
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
		if o.ReadOnly() != reads {
			t.Errorf("%s: %v", o, o.ReadOnly())
		}
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
		if Named(pattern) != named {
			t.Errorf("Named(%q) is %v", pattern, !named)
		}
	}
	if !TableInsert.Matches("*.Insert") || TableInsert.Matches("Queue.*") || Other(Blob) != BlobOther || Other("") != Unknown {
		t.Error("wrong match")
	}
}
