package naming

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
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
	assert.NoError(t, d.Err())
	want := keys.Key{Partition: "p", Row: "r"}
	if k, err := d.Primary(&person{Entity: &aztables.Entity{PartitionKey: "p", RowKey: "r"}}); k != want || err != nil {
		t.Errorf("%v, %v", k, err)
	}
	assert.WantError(t, assert.ErrorOf(d.Primary(&person{})), keys.ErrBadKey, "a nil pointer")
	type keyless struct{ Name string }
	k := Definition[keyless]{Name: "name", Value: func(*keyless) (string, bool) { return "", true }}
	k.Init()
	assert.NoError(t, k.Err())
	if k.NeedsKey(); !errors.Is(k.Err(), keys.ErrBadKey) {
		t.Errorf("no keys: %v", k.Err())
	}
}

func TestNamesAreChecked(t *testing.T) {
	for _, name := range []string{"email", "last-name.2", "A", strings.Repeat("x", 64)} {
		assert.Equal(t, CheckName(name), nil, name)
	}
	for _, name := range []string{"", "e_mail", "e/mail", "é", "a b", strings.Repeat("x", 65)} {
		assert.WantError(t, CheckName(name), keys.ErrBadKey, name)
	}
}

func TestPartitionReceivesTheFoldedValue(t *testing.T) {
	d := Definition[struct{}]{Fold: true, Partition: func(partition, value string) string { return partition + value[:1] }}
	assert.Equal(t, d.PartitionOf("Sales_", "Jones", "other"), "Sales_j")
	d.Partition = nil
	assert.Equal(t, d.PartitionOf("Sales_", "Jones", "other"), "other", "without a function")
}
