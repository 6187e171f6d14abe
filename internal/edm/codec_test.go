package edm

import (
	"reflect"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/internal/assert"
)

func TestSetKeysSetsTheFieldsThatKeysReturns(t *testing.T) {
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
		c := assert.Must(CodecFor(reflect.TypeOf(v).Elem()))(t)
		c.SetKeys(v, "p", "r")
		if pk, rk, ok := c.Keys(v); !ok || pk != "p" || rk != "r" {
			t.Errorf("%T: %q, %q, %v", v, pk, rk, ok)
		}
	}
	type none struct{ Name string }
	c, err := CodecFor(reflect.TypeFor[none]())
	assert.NoError(t, err)
	v, properties := none{"n"}, map[string]any{"Name": "n"}
	c.SetKeys(&v, "p", "r")
	assert.Equal(t, v, none{"n"})
	if c, err = CodecFor(reflect.TypeOf(properties)); err != nil {
		t.Fatal(err)
	}
	if c.SetKeys(&properties, "p", "r"); len(properties) != 1 {
		t.Errorf("%v", properties)
	}
}

// TestDecodingARowTakesTwoAllocations: one for its texts and one for its binary value.
// Writing a row takes none.
func TestDecodingARowTakesTwoAllocations(t *testing.T) {
	page := benchPage(t)
	c := codecOf[benchRow](t)
	var v benchRow
	var m Meta
	next := func() (any, *Meta, *Unknown) { return &v, &m, nil }
	if n := testing.AllocsPerRun(10, func() {
		assert.NoError(t, c.DecodePage(page, next))
	}); n > 2100 {
		t.Errorf("%v allocations for 1,000 rows", n)
	}
	var dst []byte
	if n := testing.AllocsPerRun(100, func() {
		var err error
		if dst, err = c.Append(dst[:0], &v, Envelope{PartitionKey: m.PartitionKey, RowKey: m.RowKey}); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations to write a row", n)
	}
}

func TestACodecIsSafeForConcurrentUse(t *testing.T) {
	page := benchPage(t)
	c := codecOf[benchRow](t)
	read := func() (rows []benchRow, err error) {
		err = c.DecodePage(page, func() (any, *Meta, *Unknown) {
			rows = append(rows, benchRow{})
			return &rows[len(rows)-1], nil, nil
		})
		return rows, err
	}
	want, err := read()
	if err != nil || len(want) != 1000 || want[7].Badge != 9007199254740007 {
		t.Fatal(len(want), err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				if got, err := read(); err != nil || !reflect.DeepEqual(got, want) {
					t.Error("another result", err)
				}
				assert.Equal(t, assert.ErrorOf(codecOf[narrow](t).Append(nil, &narrow{}, Envelope{})), nil)
			}
		})
	}
	wg.Wait()
}
