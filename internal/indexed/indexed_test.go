package indexed

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
)

func TestKeysAreFoundBehindAPointer(t *testing.T) {
	type person struct {
		*aztables.Entity
		Name string
	}
	by, _, err := New[person, struct{}]("name", func(p *person) (string, bool) { return p.Name, true }, nil)
	if err != nil || by.HasKey() != nil {
		t.Fatal(err, by.HasKey())
	}
	want := keys.Key{Partition: "p", Row: "r"}
	if k, err := by.Key(&person{Entity: &aztables.Entity{PartitionKey: "p", RowKey: "r"}}); k != want || err != nil {
		t.Errorf("%v, %v", k, err)
	}
	if _, err := by.Key(&person{}); !errors.Is(err, keys.ErrBadKey) {
		t.Errorf("a nil pointer: %v", err)
	}
	by2, _, err := New[struct{ Name string }, struct{}]("name", func(*struct{ Name string }) (string, bool) { return "", true }, nil)
	if err != nil || !errors.Is(by2.HasKey(), keys.ErrBadKey) {
		t.Errorf("no keys: %v, %v", err, by2.HasKey())
	}
}

func TestNames(t *testing.T) {
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
