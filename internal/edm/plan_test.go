package edm

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/internal/assert"
)

type base struct {
	ID   string
	Kind string
}

type Deep struct {
	base
	Kind string // hides base.Kind
	Note string
}

type onlyText struct{ X int }

func (onlyText) MarshalText() ([]byte, error) { return nil, nil }

type onlyJSON struct{ X int }

func (onlyJSON) MarshalJSON() ([]byte, error) { return nil, nil }

type nestedInJSON struct{ X int }

func (nestedInJSON) MarshalJSON() ([]byte, error) { return []byte("[1]"), nil }
func (*nestedInJSON) UnmarshalJSON([]byte) error  { return nil }

type noZeroInJSON struct{ X *int }

func (v noZeroInJSON) MarshalJSON() ([]byte, error)  { return json.Marshal(*v.X) }
func (v *noZeroInJSON) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &v.X) }

func TestAJSONMethodNeedNotAcceptTheZeroValue(t *testing.T) {
	type row struct{ N noZeroInJSON }
	roundTrip(t, row{noZeroInJSON{ptr(7)}}, func(got row) {
		assert.Equal(t, *got.N.X, 7, "read")
	})
}

type recursive struct {
	Name string
	*recursiveInner
}

type recursiveInner struct{ X int }

func TestCodecForNamesTheFieldThatCannotBeStored(t *testing.T) {
	many := make([]reflect.StructField, 253)
	for i := range many {
		many[i] = reflect.StructField{Name: fmt.Sprintf("F%03d", i), Type: reflect.TypeFor[int32]()}
	}
	for _, c := range []struct {
		typ   reflect.Type
		field string
	}{
		{reflect.TypeFor[struct{ C chan int }](), "C"},
		{reflect.TypeFor[struct{ F func() }](), "F"},
		{reflect.TypeFor[struct{ C complex128 }](), "C"},
		{reflect.TypeFor[struct{ I any }](), "I"},
		{reflect.TypeFor[struct{ E error }](), "E"},
		{reflect.TypeFor[struct{ M map[string]int }](), "M"},
		{reflect.TypeFor[struct{ M map[string]any }](), "M"},
		{reflect.TypeFor[struct{ S []string }](), "S"},
		{reflect.TypeFor[struct{ A [15]byte }](), "A"},
		{reflect.TypeFor[struct{ N struct{ X int } }](), "N"},
		{reflect.TypeFor[struct{ N *base }](), "N"},
		{reflect.TypeFor[struct{ P **int }](), "P"},
		{reflect.TypeFor[struct{ T onlyText }](), "T"},
		{reflect.TypeFor[struct{ J onlyJSON }](), "J"},
		{reflect.TypeFor[struct{ J nestedInJSON }](), "J"},
		{reflect.TypeFor[struct {
			X noZeroInJSON `table:",int32"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X bool `table:",int32"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X time.Time `table:",guid"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X []string `table:",string"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X []string `table:",json,int32"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X string `table:"with-dash"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X string `json:"with.dot"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X string `table:"1st"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X string `table:"azp_x"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X string `table:"azp_stamp,reserved"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X string `table:",omitempy"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X string `json:",string"`
		}](), "X"},
		{reflect.TypeFor[struct {
			X int
			Y int `table:"X"`
			Z int `table:"X"`
		}](), "Z"},
		{reflect.TypeFor[struct {
			A struct{ PartitionKey string } `table:"PartitionKey"`
		}](), "A"},
		{reflect.TypeFor[struct{ PartitionKey int }](), "PartitionKey"},
		{reflect.TypeFor[struct{ RowKey *string }](), "RowKey"},
		{reflect.TypeFor[struct{ Timestamp int64 }](), "Timestamp"},
		{reflect.TypeFor[struct {
			ETag int `json:"odata.etag"`
		}](), "ETag"},
		{reflect.TypeFor[struct{ ETag *azcore.ETag }](), "ETag"},
		{reflect.TypeFor[struct {
			T string `json:"Missing@odata.type"`
		}](), "T"},
		{reflect.TypeFor[struct {
			B map[string]string `table:",bag"`
		}](), "B"},
		{reflect.TypeFor[struct {
			A map[string]any `table:",bag"`
			B map[string]any `table:",bag"`
		}](), "B"},
		{reflect.TypeFor[recursive](), "recursiveInner"},
		{reflect.TypeFor[struct {
			base
			Deep
		}](), "Deep.Kind"},
		{reflect.TypeFor[struct {
			Deep
			base2
		}](), "base2.Note"},
		{reflect.StructOf(many), "F252"},
	} {
		_, err := CodecFor(c.typ)
		var e *FieldError
		if !errors.As(err, &e) || e.Field != c.field || e.Reason == "" || !strings.Contains(e.Error(), c.field) {
			t.Errorf("%v: %v", c.typ, err)
		}
		assert.Equal(t, assert.ErrorOf(CodecFor(c.typ)), err, c.typ, "another error the second time")
	}
	for _, typ := range []reflect.Type{nil, reflect.TypeFor[int](), reflect.TypeFor[*base](), reflect.TypeFor[[]base](), reflect.TypeFor[map[string]string](), reflect.TypeFor[any]()} {
		assert.Failed(t, assert.ErrorOf(CodecFor(typ)), typ, "has a codec")
	}
}

type base2 struct{ Note string }

func TestFieldsFollowEncodingJSON(t *testing.T) {
	type T struct {
		aztables.Entity
		Deep
		Name   string `json:"name,omitempty"`
		Skip   string `json:"-"`
		hidden string
		At     time.Time
		Data   json.RawMessage
		ETag   azcore.ETag
	}
	c := codecOf[T](t)
	var got []string
	for _, f := range c.Fields() {
		got = append(got, f.Name+" "+f.EDM.String()+" "+f.Type.String())
	}
	want := []string{"ID Edm.String string", "Kind Edm.String string", "Note Edm.String string", "name Edm.String string",
		"At Edm.DateTime time.Time", "Data Edm.String json.RawMessage"}
	if !slices.Equal(got, want) || c.Open() {
		t.Errorf("%q", got)
	}
	v := T{hidden: "x"}
	v.Deep.Kind, v.Deep.base.Kind, v.ID, v.At = "outer", "inner", "id", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	v.PartitionKey, v.RowKey = "p", "r"
	body, err := appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r"})
	if err != nil || strings.Contains(body, "inner") || strings.Contains(body, "Timestamp") || strings.Contains(body, "name") {
		t.Errorf("%s %v", body, err)
	}
	back, _, _, err := decode[T](t, body)
	if err != nil || back.Deep.Kind != "outer" || back.ID != "id" || back.PartitionKey != "p" {
		t.Errorf("%+v %v", back, err)
	}
	if pk, rk, ok := c.Keys(&v); pk != "p" || rk != "r" || !ok {
		t.Errorf("%q %q %v", pk, rk, ok)
	}
}

func TestKeysAreFoundByNameAndTag(t *testing.T) {
	type tagged struct {
		Dept string `table:"PartitionKey"`
		ID   string `json:"RowKey"`
	}
	type pointer struct{ *aztables.Entity }
	for _, c := range []struct {
		entity any
		pk, rk string
		ok     bool
	}{
		{&tagged{"p", "r"}, "p", "r", true},
		{&struct{ PartitionKey string }{"p"}, "p", "", false},
		{&struct{ Name string }{"p"}, "", "", false},
		{&pointer{}, "", "", false},
		{&pointer{&aztables.Entity{PartitionKey: "p"}}, "p", "", true},
		{&map[string]any{"PartitionKey": "p", "RowKey": "r"}, "p", "r", true},
		{&map[string]any{"PartitionKey": "p", "RowKey": 5}, "p", "", false},
		{&map[string]any{}, "", "", false},
	} {
		codec := assert.Must(CodecFor(reflect.TypeOf(c.entity).Elem()))(t)
		if pk, rk, ok := codec.Keys(c.entity); pk != c.pk || rk != c.rk || ok != c.ok {
			t.Errorf("%T: %q %q %v", c.entity, pk, rk, ok)
		}
	}
}

// TestNilPointersToEmbeddedStructsAreAllocatedWhenNeeded reads a field of a struct that is
// embedded by a nil pointer.
func TestNilPointersToEmbeddedStructsAreAllocatedWhenNeeded(t *testing.T) {
	type Outer struct {
		*Deep
		Name string
	}
	got, _, _, err := decode[Outer](t, `{"Name":"n"}`)
	assert.NoError(t, err)
	assert.Equal(t, got.Deep, nil)
	if body, err := appendRow(t, &got, Envelope{}); err != nil || strings.Contains(body, "Note") {
		t.Errorf("%s %v", body, err)
	}
	got, _, _, err = decode[Outer](t, `{"Name":"n","Note":"x"}`)
	if err != nil || got.Deep == nil || got.Note != "x" {
		t.Errorf("%+v %v", got, err)
	}
}

// TestAFieldTaggedBlobIsAPropertyOmittedWhenZero: only package largeentity moves the value to
// a blob.
func TestAFieldTaggedBlobIsAPropertyOmittedWhenZero(t *testing.T) {
	type inner struct{ X, Y int }
	type entity struct {
		Photo []byte `table:",blob"`
		Notes string `table:"Text,blob"`
		Tags  inner  `table:",blob"`
		List  []int  `table:",blob"`
	}
	c := assert.Must(CodecFor(reflect.TypeFor[entity]()))(t)
	full := entity{[]byte{}, "n", inner{1, 2}, []int{}}
	for want, e := range map[string]entity{
		`{"PartitionKey":"p","RowKey":"r"}`: {},
		`{"PartitionKey":"p","RowKey":"r","Photo@odata.type":"Edm.Binary","Photo":"","Text":"n","Tags":"{\"X\":1,\"Y\":2}","List":"[]"}`: full,
	} {
		body, err := c.Append(nil, &e, Envelope{PartitionKey: "p", RowKey: "r"})
		assert.NoError(t, err)
		assert.Equal(t, string(body), want)
		var got entity
		assert.NoError(t, c.DecodeEntity(body, &got, &Meta{}, nil))
		assert.DeepEqual(t, got, e)
	}
	for i, want := range []Field{
		{Name: "Photo", EDM: Binary, Index: []int{0}, Blob: true},
		{Name: "Text", EDM: String, Index: []int{1}, Blob: true},
		{Name: "Tags", EDM: String, Index: []int{2}, Blob: true, JSON: true},
		{Name: "List", EDM: String, Index: []int{3}, Blob: true, JSON: true},
	} {
		got := c.Fields()[i]
		got.Type = nil
		assert.DeepEqual(t, got, want, "field")
	}
}

type marked[T any] struct {
	Copy T      `table:",inline"`
	View string `table:"azp_view,reserved"`
}

// An index reads a copy together with what the library has added to it.
func TestAnInlineEntityIsReadAsOnItsOwn(t *testing.T) {
	const body = `{"odata.metadata":"x","odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-01-02T03:04:05Z","A":"x","B":7,"azp_view":"email"}`
	type properties map[string]any
	type entity struct {
		PartitionKey, RowKey string
		A                    string
		Rest                 map[string]any `table:",bag"`
	}
	inlineEqual[entity](t, body)
	inlineEqual[map[string]any](t, body)
	inlineEqual[properties](t, body)
	inlineEqual[aztables.EDMEntity](t, body)
}

func inlineEqual[T any](t *testing.T, body string) {
	t.Helper()
	var own T
	var within marked[T]
	for _, v := range []any{&own, &within} {
		codec := assert.Must(CodecFor(reflect.TypeOf(v).Elem()))(t)
		var m Meta
		assert.NoError(t, codec.DecodeEntity([]byte(body), v, &m, &Unknown{}))
	}
	assert.DeepEqual(t, within.Copy, own)
	assert.Equal(t, within.View, "email")
}

func TestPropertiesOfTheLibraryDoNotCountAgainstTheFieldsOfAType(t *testing.T) {
	var fields []reflect.StructField
	for i := range maxProperties {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("P%d", i), Type: reflect.TypeFor[string]()})
	}
	full := reflect.StructOf(fields)
	if _, err := CodecFor(reflect.StructOf([]reflect.StructField{
		{Name: "Copy", Type: full, Tag: `table:",inline"`},
		{Name: "View", Type: reflect.TypeFor[string](), Tag: `table:"azp_view,reserved"`},
	})); err != nil {
		t.Error(err)
	}
}
