package edm

import (
	"reflect"
	"testing"
)

// A field tagged blob is, in a row by itself, a property like others, left out when
// zero: only package largeentity moves it.
func TestAFieldTaggedBlobIsAPropertyLeftOutWhenZero(t *testing.T) {
	type inner struct{ X, Y int }
	type entity struct {
		Photo []byte `table:",blob"`
		Notes string `table:"Text,blob"`
		Tags  inner  `table:",blob"`
		List  []int  `table:",blob"`
	}
	c, err := CodecFor(reflect.TypeFor[entity]())
	if err != nil {
		t.Fatal(err)
	}
	full := entity{[]byte{}, "n", inner{1, 2}, []int{}}
	for want, e := range map[string]entity{
		`{"PartitionKey":"p","RowKey":"r"}`: {},
		`{"PartitionKey":"p","RowKey":"r","Photo@odata.type":"Edm.Binary","Photo":"","Text":"n","Tags":"{\"X\":1,\"Y\":2}","List":"[]"}`: full,
	} {
		body, err := c.Append(nil, &e, Envelope{PartitionKey: "p", RowKey: "r"})
		if err != nil || string(body) != want {
			t.Errorf("%s %v, want %s", body, err, want)
		}
		var got entity
		if err := c.DecodeEntity(body, &got, &Meta{}, nil); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%+v %v, want %+v", got, err, e)
		}
	}
	for i, want := range []Field{
		{Name: "Photo", EDM: Binary, Index: []int{0}, Blob: true},
		{Name: "Text", EDM: String, Index: []int{1}, Blob: true},
		{Name: "Tags", EDM: String, Index: []int{2}, Blob: true, JSON: true},
		{Name: "List", EDM: String, Index: []int{3}, Blob: true, JSON: true},
	} {
		got := c.Fields()[i]
		got.Type = nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("field %+v, want %+v", got, want)
		}
	}
}
