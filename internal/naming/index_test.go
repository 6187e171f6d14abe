package naming

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
)

func TestKeysAreFoundInAnEmbeddedPointer(t *testing.T) {
	type person struct {
		*aztables.Entity
		Name string
	}
	d := Definition[person]{Name: "name", Value: func(p *person) (string, bool) { return p.Name, true }}
	d.Init()
	d.NeedsKey()
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	want := keys.Key{Partition: "p", Row: "r"}
	if k, err := d.Primary(&person{Entity: &aztables.Entity{PartitionKey: "p", RowKey: "r"}}); k != want || err != nil {
		t.Errorf("%v, %v", k, err)
	}
	if _, err := d.Primary(&person{}); !errors.Is(err, keys.ErrBadKey) {
		t.Errorf("a nil pointer: %v", err)
	}
	type keyless struct{ Name string }
	k := Definition[keyless]{Name: "name", Value: func(*keyless) (string, bool) { return "", true }}
	k.Init()
	if err := k.Err(); err != nil {
		t.Fatal(err)
	}
	if k.NeedsKey(); !errors.Is(k.Err(), keys.ErrBadKey) {
		t.Errorf("no keys: %v", k.Err())
	}
}

func TestNamesAreChecked(t *testing.T) {
	for _, name := range []string{"email", "last-name.2", "A", strings.Repeat("x", 64)} {
		if err := checkName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "e_mail", "e/mail", "é", "a b", strings.Repeat("x", 65)} {
		if err := checkName(name); !errors.Is(err, keys.ErrBadKey) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestPartitionReceivesTheFoldedValue(t *testing.T) {
	d := Definition[struct{}]{Fold: true, Partition: func(partition, value string) string { return partition + value[:1] }}
	if p := d.PartitionOf("Sales_", "Jones", "other"); p != "Sales_j" {
		t.Errorf("got %q", p)
	}
	d.Partition = nil
	if p := d.PartitionOf("Sales_", "Jones", "other"); p != "other" {
		t.Errorf("without a function: got %q", p)
	}
}
