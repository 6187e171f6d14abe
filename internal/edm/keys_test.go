package edm

import (
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func TestSetKeysFillsTheFieldsThatKeysReads(t *testing.T) {
	type own struct{ PartitionKey, RowKey, Name string }
	type embedded struct {
		aztables.Entity
		Name string
	}
	type tagged struct {
		Department string `table:"PartitionKey"`
		ID         string `table:"RowKey"`
	}
	for _, v := range []any{&own{Name: "n"}, &embedded{Name: "n"}, &tagged{}, &map[string]any{"PartitionKey": "", "RowKey": "", "Name": "n"}} {
		c, err := CodecFor(reflect.TypeOf(v).Elem())
		if err != nil {
			t.Fatal(err)
		}
		c.SetKeys(v, "p", "r")
		if pk, rk, ok := c.Keys(v); !ok || pk != "p" || rk != "r" {
			t.Errorf("%T: %q, %q, %v", v, pk, rk, ok)
		}
	}
	type none struct{ Name string }
	c, err := CodecFor(reflect.TypeFor[none]())
	if err != nil {
		t.Fatal(err)
	}
	v, bag := none{"n"}, map[string]any{"Name": "n"}
	c.SetKeys(&v, "p", "r")
	if v != (none{"n"}) {
		t.Errorf("%+v", v)
	}
	if c, err = CodecFor(reflect.TypeOf(bag)); err != nil {
		t.Fatal(err)
	}
	if c.SetKeys(&bag, "p", "r"); len(bag) != 1 {
		t.Errorf("%v", bag)
	}
}
