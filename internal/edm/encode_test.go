package edm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

func appendRow(t testing.TB, entity any, e Envelope) (string, error) {
	t.Helper()
	c := assert.Must(CodecFor(reflect.TypeOf(entity).Elem()))(t)
	b, err := c.Append(nil, entity, e)
	return string(b), err
}

// TestGoldenRows guards the stored form: all versions read and filter the rows of all
// others.
func TestGoldenRows(t *testing.T) {
	when := time.Date(2013, 8, 22, 3, 12, 6, 260859599, time.FixedZone("", 7200))
	guid := uuid.MustParse("c9da6455-213d-42c9-9a79-3e9149a57833")
	type tags struct {
		Plain   string    `table:"Renamed"`
		Hidden  string    `table:"-"`
		Empty   string    `table:",omitempty"`
		Zero    time.Time `table:",omitzero"`
		Nested  []int     `table:",json"`
		Both    int32     `json:"FromJSON" table:"FromTable"`
		JSON    int32     `json:"OnlyJSON,omitempty"`
		Quoted  int64     `json:",string"`
		Quoted8 int8      `json:",string"`
		QuotedB bool      `json:",string"`
		QuotedF float64   `json:",string"`
	}
	for _, c := range []struct {
		name   string
		entity any
		want   string
	}{
		{"text", &struct{ S, E string }{"a\"\\/\n\x00\x7fé😀<>&", ""}, `"S":"a\"\\/\u000a\u0000` + "\x7f" + `é😀<>&","E":""`},
		{"bool", &struct{ A, B bool }{true, false}, `"A":true,"B":false`},
		{"int32", &struct {
			A int8
			B int16
			C int32
			D uint8
			E uint16
		}{-128, 32767, math.MinInt32, 255, 65535}, `"A":-128,"B":32767,"C":-2147483648,"D":255,"E":65535`},
		{"int64", &struct {
			A int
			B int64
			C uint32
			D uint
			E uint64
			F time.Duration
		}{-1, math.MinInt64, math.MaxUint32, 1, math.MaxInt64, time.Second},
			`"A@odata.type":"Edm.Int64","A":"-1","B@odata.type":"Edm.Int64","B":"-9223372036854775808","C@odata.type":"Edm.Int64","C":"4294967295",` +
				`"D@odata.type":"Edm.Int64","D":"1","E@odata.type":"Edm.Int64","E":"9223372036854775807","F@odata.type":"Edm.Int64","F":"1000000000"`},
		{"zero times", &struct {
			A time.Time
			B *time.Time
			C aztables.EDMDateTime
			D int32
		}{B: new(time.Time)}, `"D":0`},
		{"declared types", &struct {
			A int       `table:",int32"`
			B int32     `table:",int64"`
			C uint64    `table:",double"`
			D int       `table:",string"`
			E bool      `table:",string"`
			F float64   `table:",string"`
			G time.Time `table:",string"`
			H []byte    `table:",string"`
			I [16]byte  `table:",string"`
			J string    `table:",guid"`
			K string    `table:",datetime"`
			L string    `table:",binary"`
			M string    `table:",int64"`
			N time.Time `table:",string"`
		}{1, 2, 3, 4, true, 2.5, time.Time{}, []byte("ab"), guid, guid.String(), "2013-08-22T01:12:06Z", "YWI=", "-7", when},
			`"A":1,"B@odata.type":"Edm.Int64","B":"2","C@odata.type":"Edm.Double","C":3.0,"D":"4","E":"true","F":"2.5","G":"0001-01-01T00:00:00Z","H":"YWI=",` +
				`"I":"c9da6455-213d-42c9-9a79-3e9149a57833","J@odata.type":"Edm.Guid","J":"c9da6455-213d-42c9-9a79-3e9149a57833",` +
				`"K@odata.type":"Edm.DateTime","K":"2013-08-22T01:12:06Z","L@odata.type":"Edm.Binary","L":"YWI=","M@odata.type":"Edm.Int64","M":"-7","N":"2013-08-22T01:12:06.260859599Z"`},
		{"json names of table tags without a name", &struct {
			A []int    `table:",json" json:"tags,omitempty"`
			B int      `table:",int32" json:"b,string"`
			C string   `table:",omitempty" json:"c"`
			D []string `table:",json" json:"d"`
			E []string `table:",json" json:"-"`
		}{B: 1, D: []string{"x"}, E: []string{"y"}}, `"b":1,"d":"[\"x\"]","E":"[\"y\"]"`},
		{"double", &struct {
			A, B, C, D, E float64
			F             float32
		}{1.5, 3, 1e21, 1e-7, math.Copysign(0, -1), 0.1},
			`"A":1.5,"B@odata.type":"Edm.Double","B":3.0,"C@odata.type":"Edm.Double","C":1e+21,"D@odata.type":"Edm.Double","D":1e-07,"E@odata.type":"Edm.Double","E":-0.0,"F":0.1`},
		{"special", &struct{ A, B, C float64 }{math.NaN(), math.Inf(1), math.Inf(-1)},
			`"A@odata.type":"Edm.Double","A":"NaN","B@odata.type":"Edm.Double","B":"Infinity","C@odata.type":"Edm.Double","C":"-Infinity"`},
		{"annotated", &struct {
			T time.Time
			B []byte
			G uuid.UUID
			A [16]byte
		}{when, []byte{0, 255}, guid, guid},
			`"T@odata.type":"Edm.DateTime","T":"2013-08-22T01:12:06.2608595Z","B@odata.type":"Edm.Binary","B":"AP8=",` +
				`"G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","A@odata.type":"Edm.Guid","A":"c9da6455-213d-42c9-9a79-3e9149a57833"`},
		{"aztables", &struct {
			aztables.Entity
			T aztables.EDMDateTime
			B aztables.EDMBinary
			G aztables.EDMGUID
			I aztables.EDMInt64
		}{aztables.Entity{PartitionKey: "other", RowKey: "other"}, aztables.EDMDateTime(when), nil, "C9DA6455-213D-42C9-9A79-3E9149A57833", 7},
			`"T@odata.type":"Edm.DateTime","T":"2013-08-22T01:12:06.2608595Z","G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","I@odata.type":"Edm.Int64","I":"7"`},
		{"text methods", &struct {
			A netip.Addr
			B *big.Int
			C big.Int
		}{netip.MustParseAddr("10.0.0.1"), big.NewInt(5), *big.NewInt(6)}, `"A":"10.0.0.1","B":5,"C":6`},
		{"json", &struct {
			A map[string]int   `table:",json"`
			B *struct{ X int } `table:",json"`
			C json.RawMessage
			D []string `table:",json"`
		}{map[string]int{"a": 1}, &struct{ X int }{2}, json.RawMessage(`[1]`), nil}, `"A":"{\"a\":1}","B":"{\"X\":2}","C":"[1]"`},
		{"pointers", &struct {
			A, B *string
			C    *int64
			D    *time.Time
		}{nil, new(string), ptr(int64(1)), &when}, `"B":"","C@odata.type":"Edm.Int64","C":"1","D@odata.type":"Edm.DateTime","D":"2013-08-22T01:12:06.2608595Z"`},
		{"tags", &tags{Plain: "p", Hidden: "h", Nested: []int{1}, Both: 2, Quoted: 3, Quoted8: 4, QuotedB: true, QuotedF: 5},
			`"Renamed":"p","Nested":"[1]","FromTable":2,"Quoted@odata.type":"Edm.Int64","Quoted":"3","Quoted8":"4","QuotedB":"true","QuotedF":"5"`},
		{"annotation field", &struct {
			N  string
			NT string `json:"N@odata.type"`
			S  string
			ST string `json:"S@odata.type"`
			D  string
			DT string `json:"D@odata.type"`
			G  string
			GT string `json:"G@odata.type"`
			F  string
			FT string `json:"F@odata.type"`
			B  string
			BT string `json:"B@odata.type"`
		}{"12", "Edm.Int64", "x", "", "2013-08-22T01:12:06Z", "Edm.DateTime", guid.String(), "Edm.Guid", "NaN", "Edm.Double", "AP8=", "Edm.Binary"},
			`"N@odata.type":"Edm.Int64","N":"12","S":"x","D@odata.type":"Edm.DateTime","D":"2013-08-22T01:12:06Z",` +
				`"G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","F@odata.type":"Edm.Double","F":"NaN","B@odata.type":"Edm.Binary","B":"AP8="`},
		{"map", &map[string]any{"PartitionKey": "other", "Timestamp": when, "odata.etag": "e", "b": true, "i": 5, "i32": int32(5), "i64": int64(5), "f": 5.0, "s": "x", "t": when,
			"y": []byte("ab"), "g": guid, "a": [16]byte(guid), "n": nil, "ei": aztables.EDMInt64(5), "et": aztables.EDMDateTime(when), "eg": aztables.EDMGUID(guid.String()), "eb": aztables.EDMBinary("ab")},
			`"a@odata.type":"Edm.Guid","a":"c9da6455-213d-42c9-9a79-3e9149a57833","b":true,"eb@odata.type":"Edm.Binary","eb":"YWI=","eg@odata.type":"Edm.Guid","eg":"c9da6455-213d-42c9-9a79-3e9149a57833",` +
				`"ei@odata.type":"Edm.Int64","ei":"5","et@odata.type":"Edm.DateTime","et":"2013-08-22T01:12:06.2608595Z","f@odata.type":"Edm.Double","f":5.0,"g@odata.type":"Edm.Guid","g":"c9da6455-213d-42c9-9a79-3e9149a57833",` +
				`"i@odata.type":"Edm.Int64","i":"5","i32":5,"i64@odata.type":"Edm.Int64","i64":"5","s":"x","t@odata.type":"Edm.DateTime","t":"2013-08-22T01:12:06.2608595Z","y@odata.type":"Edm.Binary","y":"YWI="`},
		{"map with annotations", &map[string]any{"A": "12", "A@odata.type": "Edm.Int64", "B": "x", "B@odata.type": "Edm.String", "C": 2.5, "C@odata.type": "Edm.Double"},
			`"A@odata.type":"Edm.Int64","A":"12","B":"x","C@odata.type":"Edm.Double","C":2.5`},
	} {
		got, err := appendRow(t, c.entity, Envelope{PartitionKey: "O'Brien", RowKey: "", Stamp: "s"})
		want := `{"PartitionKey":"O'Brien","RowKey":"",` + c.want + `,"azp_stamp":"s"}`
		assert.NoError(t, err, c.name)
		assert.Equal(t, got, want, c.name)
		if err == nil && !json.Valid([]byte(got)) {
			t.Errorf("%s: not JSON: %s", c.name, got)
		}
	}
}

func TestAppendNamesThePropertyThatCannotBeStored(t *testing.T) {
	wide := map[string]any{}
	for i := range 253 {
		wide[fmt.Sprintf("P%03d", i)] = int32(i)
	}
	heavy := map[string]any{"Big": strings.Repeat("x", 32768)}
	for i := range 16 {
		heavy[fmt.Sprintf("P%03d", i)] = strings.Repeat("x", 32000)
	}
	type one[V any] struct{ Value V }
	type empty struct{}
	for _, c := range []struct {
		name     string
		entity   any
		property string
		tooLarge bool
	}{
		{"units", &one[string]{strings.Repeat("é", 32769)}, "Value", true},
		{"surrogates", &one[string]{strings.Repeat("😀", 16385)}, "Value", true},
		{"json units", &struct {
			Value []string `table:",json"`
		}{[]string{strings.Repeat("x", 32768)}}, "Value", true},
		{"binary", &one[[]byte]{make([]byte, 65537)}, "Value", true},
		{"properties", &wide, "P252", true},
		{"entity", &heavy, "Big", true},
		{"utf-8", &one[string]{"secret\xff"}, "Value", false},
		{"json utf-8 of a marshaler", &one[badText]{}, "Value", false},
		{"failing marshaler", &one[failText]{}, "Value", false},
		{"failing json", &struct {
			Value any `table:",json"`
		}{func() {}}, "Value", false},
		{"bad raw json", &one[json.RawMessage]{json.RawMessage("secret")}, "Value", false},
		{"uint64", &one[uint64]{1 << 63}, "Value", false},
		{"early time", &one[time.Time]{time.Date(1600, 12, 31, 23, 59, 59, 0, time.UTC)}, "Value", false},
		{"late time", &one[*time.Time]{ptr(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))}, "Value", false},
		{"declared Int32", &struct {
			Value int64 `table:",int32"`
		}{1 << 31}, "Value", false},
		{"declared Double", &struct {
			Value int64 `table:",double"`
		}{1<<53 + 1}, "Value", false},
		{"declared Guid", &struct {
			Value string `table:",guid"`
		}{"secret"}, "Value", false},
		{"EDMGUID", &one[aztables.EDMGUID]{"secret"}, "Value", false},
		{"annotation", &struct {
			Value string
			T     string `json:"Value@odata.type"`
		}{"secret", "Edm.Int64"}, "Value", false},
		{"unknown annotation", &struct {
			Value string
			T     string `json:"Value@odata.type"`
		}{"secret", "secret"}, "Value", false},
		{"map type", &map[string]any{"Value": struct{}{}}, "Value", false},
		{"map func", &map[string]any{"Value": func() {}}, "Value", false},
		{"map pointer to pointer", &map[string]any{"Value": ptr(ptr(1))}, "Value", false},
		{"map name", &map[string]any{"a-b": "x"}, "a-b", false},
		{"map empty name", &map[string]any{"": "x"}, "", false},
		{"map long name", &map[string]any{strings.Repeat("n", 256): "x"}, strings.Repeat("n", 256), false},
		{"map reserved name", &map[string]any{"azp_x": "x"}, "azp_x", false},
		{"map annotation", &map[string]any{"Value": "secret", "Value@odata.type": "Edm.Guid"}, "Value", false},
		{"map nested", &map[string]any{"Value": []string{"x"}}, "Value", false},
		{"properties name taken", &struct {
			Name string
			More map[string]any `table:",bag"`
		}{"x", map[string]any{"Name": "y"}}, "Name", false},
	} {
		dst := []byte("kept")
		codec, err := CodecFor(reflect.TypeOf(c.entity).Elem())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		out, err := codec.Append(dst, c.entity, Envelope{PartitionKey: "p", RowKey: "r"})
		var e *types.PropertyError
		if !errors.As(err, &e) || e.Property != c.property || errors.Is(err, azerr.ErrTooLarge) != c.tooLarge {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		assert.Equal(t, string(out), "kept", c.name, "returns", out, "with an error")
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the message contains a value: %v", c.name, err)
		}
	}
	for name, e := range map[string]Envelope{"PartitionKey": {PartitionKey: "\xff"}, "RowKey": {RowKey: "\xff"}, "azp_stamp": {Stamp: "\xff"}} {
		_, err := appendRow(t, &empty{}, e)
		var p *types.PropertyError
		if !errors.As(err, &p) || p.Property != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type badText struct{}

func (badText) MarshalText() ([]byte, error) { return []byte("secret\xff"), nil }
func (*badText) UnmarshalText([]byte) error  { return nil }

type failText struct{}

func (failText) MarshalText() ([]byte, error) { return nil, errors.New("secret") }
func (*failText) UnmarshalText([]byte) error  { return nil }

func TestAppendAcceptsWhatIsJustWithinTheLimits(t *testing.T) {
	wide := map[string]any{}
	for i := range 252 {
		wide[fmt.Sprintf("P%03d", i)] = int32(i)
	}
	for name, entity := range map[string]any{
		"properties": &wide,
		"units":      &struct{ V string }{strings.Repeat("😀", 16384)},
		"binary":     &struct{ V []byte }{make([]byte, 65536)},
		"first time": &struct{ V time.Time }{time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC)},
		"last time":  &struct{ V time.Time }{time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)},
		"name":       &map[string]any{strings.Repeat("é", 255): "x", "_1": "x", "Ünïcode٣": "x"},
		"reserved": &struct {
			V string `table:"azp_v,reserved"`
		}{"x"},
		"empty map": &map[string]any{},
		"nil map":   ptr(map[string]any(nil)),
	} {
		assert.Equal(t, assert.ErrorOf(appendRow(t, entity, Envelope{})), nil, name)
	}
	assert.Equal(t, assert.ErrorOf(appendRow(t, &map[string]any{"azp_x": "x"}, Envelope{Reserved: true})), nil)
}

// TestSizeIsThatOfThePublishedFormula computes the size by hand: 4 + 2*(keys) + for each
// property 8 + 2*name + value.
func TestSizeIsThatOfThePublishedFormula(t *testing.T) {
	entity := struct {
		Str string    // 8+2*3 + 4+2*3
		Bin []byte    // 8+2*3 + 4+2
		T   time.Time // 8+2*1 + 8
		F   float64   // 8+2*1 + 8
		L   int64     // 8+2*1 + 8
		G   uuid.UUID // 8+2*1 + 16
		I   int32     // 8+2*1 + 4
		B   bool      // 8+2*1 + 1
	}{"é😀", []byte{1, 2}, time.Unix(0, 0), 1, 1, uuid.UUID{}, 1, true}
	want := entitySize{8, 4 + 2*(2+3) + 24 + 20 + 18 + 18 + 18 + 26 + 14 + 11}
	c := codecOf[struct {
		Str string
		Bin []byte
		T   time.Time
		F   float64
		L   int64
		G   uuid.UUID
		I   int32
		B   bool
	}](t)
	body, size, err := c.appendSized(nil, &entity, Envelope{PartitionKey: "pk", RowKey: "r😀"})
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), size, want)
	// The same as unknown properties.
	none := codecOf[struct{}](t)
	var v struct{}
	var unknown Unknown
	assert.NoError(t, none.DecodeEntity(body, &v, nil, &unknown))
	_, size, err = none.appendSized(nil, &v, Envelope{PartitionKey: "pk", RowKey: "r😀", Unknown: &unknown})
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), size, want)
	// At the limit: 1 MiB is accepted, more is not.
	big := map[string]any{}
	left := maxEntityBytes - 4 - 2*2
	for i := 0; left > 0; i++ {
		n := min(maxBinary, left-8-2*4-4)
		if over := left - (8 + 2*4 + 4 + n); over > 0 && over < 100 {
			n -= 100
		}
		big[fmt.Sprintf("P%03d", i)] = make([]byte, n)
		left -= 8 + 2*4 + 4 + n
	}
	m := codecOf[map[string]any](t)
	_, size, err = m.appendSized(nil, &big, Envelope{PartitionKey: "p", RowKey: "r"})
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), size.Bytes, maxEntityBytes)
	big["P000"] = make([]byte, len(big["P000"].([]byte)))
	if _, err = m.Append(nil, &big, Envelope{PartitionKey: "p", RowKey: "rr"}); !errors.Is(err, azerr.ErrTooLarge) {
		t.Fatalf("1 MiB and two bytes: %v", err)
	}
}

func TestEveryByteOfATextIsEscapedOrRefused(t *testing.T) {
	for size := range 20 {
		for at := range size {
			for c := range 256 {
				text := strings.Repeat("=", at) + string([]byte{byte(c)}) + strings.Repeat("=", size-at-1)
				var w encoder
				units, ok := w.quote(text)
				if !utf8.ValidString(text) {
					if ok {
						t.Fatalf("%q is written", text)
					}
					continue
				}
				var back string
				if err := json.Unmarshal(w.dst, &back); err != nil || !ok || back != text || units != size {
					t.Fatalf("%q is written as %s, %d units, %v", text, w.dst, units, err)
				}
			}
		}
	}
}
