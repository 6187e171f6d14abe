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

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// codecOf returns the codec of T.
func codecOf[T any](t testing.TB) *Codec {
	t.Helper()
	c := assert.Must(CodecFor(reflect.TypeFor[T]()))(t)
	return c
}

func decode[T any](t testing.TB, body string) (v T, m Meta, unknown Unknown, err error) {
	t.Helper()
	err = codecOf[T](t).DecodeEntity([]byte(body), &v, &m, &unknown)
	return v, m, unknown, err
}

// everything has a field of each kind.
type everything struct {
	S    string
	B    bool
	I8   int8
	I16  int16
	I32  int32
	U8   uint8
	U16  uint16
	I    int
	I64  int64
	U32  uint32
	U64  uint64
	D    time.Duration
	F32  float32
	F64  float64
	T    time.Time
	Bin  []byte
	G    uuid.UUID
	Arr  [16]byte
	EI   aztables.EDMInt64
	ET   aztables.EDMDateTime
	EG   aztables.EDMGUID
	EB   aztables.EDMBinary
	Addr netip.Addr
	Big  *big.Int
	J    map[string]int `table:",json"`
	Raw  json.RawMessage
	PS   *string
	PI   *int64
	PT   *time.Time
}

func TestDecodeAcceptsEveryTypeOfEveryClient(t *testing.T) {
	when := time.Date(2013, 8, 22, 1, 12, 6, 260859500, time.UTC)
	guid := uuid.MustParse("c9da6455-213d-42c9-9a79-3e9149a57833")
	for _, c := range []struct {
		body string
		want everything
	}{
		{`{"S":"x","B":true,"I8":-128,"U8":255,"I32":-2147483648}`, everything{S: "x", B: true, I8: -128, U8: 255, I32: math.MinInt32}},
		// Int32 fits wider integers and doubles.
		{`{"I64":5,"I":6,"U64":7,"F64":8,"F32":9}`, everything{I64: 5, I: 6, U64: 7, F64: 8, F32: 9}},
		// Int64 fits narrower integers if its value does.
		{`{"I8@odata.type":"Edm.Int64","I8":"127","U32@odata.type":"Edm.Int64","U32":"4294967295"}`, everything{I8: 127, U32: math.MaxUint32}},
		// A whole number is read from its digits.
		{`{"I64":9007199254740993}`, everything{I64: 9007199254740993}},
		{`{"I64@odata.type":"Edm.Int64","I64":"-9223372036854775808"}`, everything{I64: math.MinInt64}},
		{`{"F64":1.0,"F32":2e0}`, everything{F64: 1, F32: 2}},
		{`{"F64@odata.type":"Edm.Double","F64":3}`, everything{F64: 3}},
		{`{"F64":"Infinity","F64@odata.type":"Edm.Double"}`, everything{F64: math.Inf(1)}},
		// Annotated, and as clients that do not annotate store them.
		{`{"T@odata.type":"Edm.DateTime","T":"2013-08-22T01:12:06.2608595Z"}`, everything{T: when}},
		{`{"T":"2013-08-22T03:12:06.2608595+02:00"}`, everything{T: when.In(time.FixedZone("", 2*3600))}},
		{`{"T":"2013-08-22T01:12:06.2608595Z","T@odata.type":"Edm.String"}`, everything{T: when}},
		{`{"ET@odata.type":"Edm.DateTime","ET":"2013-08-22T01:12:06.2608595Z"}`, everything{ET: aztables.EDMDateTime(when)}},
		{`{"ET":"2013-08-22T01:12:06.2608595Z"}`, everything{ET: aztables.EDMDateTime(when)}},
		{`{"Bin@odata.type":"Edm.Binary","Bin":"YWI="}`, everything{Bin: []byte("ab")}},
		{`{"Bin":"YWI="}`, everything{Bin: []byte("ab")}},
		{`{"Bin@odata.type":"Edm.Binary","Bin":""}`, everything{Bin: []byte{}}},
		{`{"EB":"YWI="}`, everything{EB: aztables.EDMBinary("ab")}},
		{`{"G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833"}`, everything{G: guid}},
		{`{"Arr":"C9DA6455-213D-42C9-9A79-3E9149A57833"}`, everything{Arr: guid}},
		{`{"EG":"c9da6455-213d-42c9-9a79-3e9149a57833"}`, everything{EG: "c9da6455-213d-42c9-9a79-3e9149a57833"}},
		{`{"EI":"12"}`, everything{EI: 12}},
		{`{"EI@odata.type":"Edm.Int64","EI":"12"}`, everything{EI: 12}},
		{`{"Addr":"10.0.0.1","Big":"123456789012345678901234567890"}`, everything{Addr: netip.MustParseAddr("10.0.0.1"), Big: bigInt("123456789012345678901234567890")}},
		{`{"J":"{\"a\":1}","Raw":"[1,2]"}`, everything{J: map[string]int{"a": 1}, Raw: json.RawMessage("[1,2]")}},
		{`{"PS":"","PI":1,"PT":"2013-08-22T01:12:06.2608595Z"}`, everything{PS: new(string), PI: ptr(int64(1)), PT: &when}},
		// A null is treated as absent.
		{`{"S":null,"I64@odata.type":"Edm.Int64","I64":null,"PS":null,"T":null,"Bin":null}`, everything{}},
		{`{}`, everything{}},
	} {
		// With a metadata member, annotations are not omitted.
		for _, body := range []string{c.body, strings.Replace(strings.Replace(c.body, `{`, `{"odata.metadata":"x",`, 1), `,}`, `}`, 1)} {
			got, _, _, err := decode[everything](t, body)
			if err != nil {
				t.Errorf("%s: %v", body, err)
			} else if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s:\n got %+v\nwant %+v", body, got, c.want)
			}
		}
	}
	got, _, _, err := decode[everything](t, `{"F64@odata.type":"Edm.Double","F64":"NaN"}`)
	if err != nil || !math.IsNaN(got.F64) {
		t.Errorf("NaN: %v, %v", got.F64, err)
	}
}

func ptr[T any](v T) *T { return &v }

func bigInt(s string) *big.Int { i, _ := new(big.Int).SetString(s, 10); return i }

func TestDecodeNamesThePropertyThatDoesNotFit(t *testing.T) {
	const m = `{"odata.metadata":"x",`
	for _, c := range []struct{ body, property, want, got string }{
		{`"S":5`, "S", "Edm.String", "Edm.Int32"},
		{`"S":1.5`, "S", "Edm.String", "Edm.Double"},
		{`"S":true`, "S", "Edm.String", "Edm.Boolean"},
		{`"S":{"secret":1}`, "S", "Edm.String", "an object or array"},
		{`"S":"c9da6455-213d-42c9-9a79-3e9149a57833","S@odata.type":"Edm.Guid"`, "S", `Edm.String, or the tag table:",guid"`, "Edm.Guid"},
		{`"S@odata.type":"Edm.Int64","S":"5"`, "S", `Edm.String, or the tag table:",int64"`, "Edm.Int64"},
		{`"S@odata.type":"Edm.Secret","S":"5"`, "S", "Edm.String", "an unknown type"},
		{`"S":"\ud800"`, "S", "Edm.String", "Edm.String with half a surrogate pair"},
		{`"Raw":"\ud800"`, "Raw", "Edm.String", "Edm.String with half a surrogate pair"},
		{`"B":"true"`, "B", `Edm.Boolean, or the tag table:",string"`, "Edm.String"},
		{`"B":1`, "B", "Edm.Boolean", "Edm.Int32"},
		{`"I32":"7"`, "I32", `Edm.Int32, or the tag table:",string"`, "Edm.String"},
		{`"I32":7.0`, "I32", `Edm.Int32, or the tag table:",double"`, "Edm.Double"},
		{`"I32":7e0`, "I32", `Edm.Int32, or the tag table:",double"`, "Edm.Double"},
		{`"I32":7,"I32@odata.type":"Edm.Double"`, "I32", `Edm.Int32, or the tag table:",double"`, "Edm.Double"},
		{`"I64":"7"`, "I64", `Edm.Int64, or the tag table:",string"`, "Edm.String"},
		{`"I64@odata.type":"Edm.Int64","I64":"9223372036854775808"`, "I64", "Edm.Int64 (int64)", "Edm.Int64 out of range"},
		{`"I64@odata.type":"Edm.Int64","I64":true`, "I64", "Edm.Int64", "Edm.Int64 with another kind of JSON value"},
		{`"I8":128`, "I8", "Edm.Int32 (int8)", "Edm.Int32 out of range"},
		{`"I8":-129`, "I8", "Edm.Int32 (int8)", "Edm.Int32 out of range"},
		{`"U8":-1`, "U8", "Edm.Int32 (uint8)", "Edm.Int32 out of range"},
		{`"U16":65536`, "U16", "Edm.Int32 (uint16)", "Edm.Int32 out of range"},
		{`"U32@odata.type":"Edm.Int64","U32":"4294967296"`, "U32", "Edm.Int64 (uint32)", "Edm.Int64 out of range"},
		{`"U64@odata.type":"Edm.Int64","U64":"-1"`, "U64", "Edm.Int64 (uint64)", "Edm.Int64 out of range"},
		{`"F64@odata.type":"Edm.Int64","F64":"7"`, "F64", "Edm.Double", "Edm.Int64"},
		{`"F64":"NaN"`, "F64", `Edm.Double, or the tag table:",string"`, "Edm.String"},
		{`"F64":1e999`, "F64", "Edm.Double (float64)", "Edm.Double that does not fit"},
		{`"F32":1e39`, "F32", "Edm.Double (float32)", "Edm.Double that does not fit"},
		{`"F64@odata.type":"Edm.Double","F64":"secret"`, "F64", "Edm.Double (float64)", "Edm.Double that does not fit"},
		{`"T":5`, "T", "Edm.DateTime", "Edm.Int32"},
		{`"T@odata.type":"Edm.DateTime","T":"secret"`, "T", "Edm.DateTime (time.Time)", "Edm.DateTime that does not fit"},
		{`"T":"secret"`, "T", "Edm.DateTime (time.Time)", "Edm.String that does not fit"},
		{`"T@odata.type":"Edm.Guid","T":"2013-08-22T01:12:06Z"`, "T", "Edm.DateTime", "Edm.Guid"},
		{`"G":"secret"`, "G", "Edm.Guid (uuid.UUID)", "Edm.String that does not fit"},
		{`"EG":"secret"`, "EG", "Edm.Guid (aztables.EDMGUID)", "Edm.String that does not fit"},
		{`"Bin":"*"`, "Bin", "Edm.Binary ([]uint8)", "Edm.String that does not fit"},
		{`"EI":"secret"`, "EI", "Edm.Int64 (aztables.EDMInt64)", "Edm.String that does not fit"},
		{`"Addr":"secret"`, "Addr", "Edm.String (netip.Addr)", "Edm.String that does not fit"},
		{`"J":"secret"`, "J", "Edm.String (map[string]int)", "Edm.String that does not fit"},
		{`"PI":"secret"`, "PI", `Edm.Int64, or the tag table:",string"`, "Edm.String"},
		{`"PartitionKey":5`, "PartitionKey", "Edm.String", "Edm.Int32"},
		{`"odata.etag":[]`, "odata.etag", "Edm.String", "an object or array"},
		{`"Timestamp":"secret"`, "Timestamp", "Edm.DateTime", "Edm.String"},
		{`"Timestamp":0`, "Timestamp", "Edm.DateTime", "Edm.Int32"},
	} {
		_, _, _, err := decode[everything](t, m+c.body+`}`)
		var e *types.PropertyError
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if e.Property != c.property || e.Want != c.want || e.Got != c.got {
			t.Errorf("%s: want %s %q got %q: %v", c.body, c.property, c.want, c.got, err)
		}
		if strings.Contains(strings.ToLower(err.Error()), "secret") {
			t.Errorf("%s: the message contains a value: %v", c.body, err)
		}
	}
}

type narrow struct {
	Name string
	Age  int64
}

// TestDecodeAcceptsMembersInAnyOrderSpacingAndSpelling writes one row in every order
// of its members, in several spacings, with names and values escaped or not.
func TestDecodeAcceptsMembersInAnyOrderSpacingAndSpelling(t *testing.T) {
	members := []string{`"odata.etag":"W/\"e\""`, `"PartitionKey":"p"`, `"RowKey":"r"`, `"Name":"Zo\u00eb"`, `"Age@odata.type":"Edm.Int64"`, `"Age":"41"`}
	escaped := []string{`"odata\u002eetag":"W\/\u0022e\""`, `"\u0050artitionKey":"\u0070"`, `"RowKe\u0079":"r"`, `"\u004eame":"Zoë"`, `"Age\u0040odata.type":"\u0045dm.Int64"`, `"A\u0067e":"\u0034\u0031"`}
	want := narrow{"Zoë", 41}
	c := codecOf[narrow](t)
	n := 0
	permute(len(members), func(order []int) {
		from := members
		if n%3 == 1 {
			from = escaped
		}
		space := []string{"", " ", "\n\t", "\r\n  "}[n%4]
		n++
		var b strings.Builder
		b.WriteString(space + "{" + space)
		for i, at := range order {
			if i > 0 {
				b.WriteString(space + "," + space)
			}
			name, value, _ := strings.Cut(from[at], `":`)
			b.WriteString(name + `"` + space + ":" + space + value)
		}
		b.WriteString(space + "}" + space)
		var got narrow
		var m Meta
		var unknown Unknown
		if err := c.DecodeEntity([]byte(b.String()), &got, &m, &unknown); err != nil {
			t.Fatalf("%s: %v", b.String(), err)
		}
		if got != want || m.PartitionKey != "p" || m.RowKey != "r" || m.ETag != `W/"e"` || !unknown.IsZero() {
			t.Fatalf("%s: %+v %+v %q", b.String(), got, m, unknown.raw)
		}
	})
	assert.Equal(assert.Now(t), n, 720, "orders")
}

func permute(n int, yield func([]int)) {
	order := make([]int, 0, n)
	used := make([]bool, n)
	var place func()
	place = func() {
		if len(order) == n {
			yield(order)
			return
		}
		for i := range n {
			if !used[i] {
				used[i] = true
				order = append(order, i)
				place()
				order = order[:len(order)-1]
				used[i] = false
			}
		}
	}
	place()
}

func TestDecodeAcceptsEveryMetadataLevel(t *testing.T) {
	want := narrow{"x", 41}
	stamp := time.Date(2014, 1, 2, 3, 4, 5, 678901200, time.UTC)
	for level, body := range map[string]string{
		"no":      `{"PartitionKey":"p","RowKey":"r","Timestamp":"2014-01-02T03:04:05.6789012Z","Name":"x","Age":"41"}`,
		"minimal": `{"odata.metadata":"https://a.table.core.windows.net/$metadata#T/@Element","odata.etag":"W/\"e\"","PartitionKey":"p","RowKey":"r","Timestamp":"2014-01-02T03:04:05.6789012Z","Name":"x","Age@odata.type":"Edm.Int64","Age":"41"}`,
		"full":    `{"odata.metadata":"https://a.table.core.windows.net/$metadata#T/@Element","odata.type":"a.T","odata.id":"https://a.table.core.windows.net/T(PartitionKey='p',RowKey='r')","odata.etag":"W/\"e\"","odata.editLink":"T(PartitionKey='p',RowKey='r')","PartitionKey@odata.type":"Edm.String","PartitionKey":"p","RowKey":"r","Timestamp@odata.type":"Edm.DateTime","Timestamp":"2014-01-02T03:04:05.6789012Z","Name@odata.type":"Edm.String","Name":"x","Age@odata.type":"Edm.Int64","Age":"41"}`,
	} {
		got, m, unknown, err := decode[narrow](t, body)
		if err != nil || got != want || m.PartitionKey != "p" || m.RowKey != "r" || !m.Timestamp.Equal(stamp) || !unknown.IsZero() {
			t.Errorf("%s: %+v %+v %q %v", level, got, m, unknown.raw, err)
		}
		if level != "no" && m.ETag != `W/"e"` {
			t.Errorf("%s: etag %q", level, m.ETag)
		}
	}
}

func TestDecodeFillsSystemFields(t *testing.T) {
	type own struct {
		PartitionKey, RowKey string
		Timestamp            time.Time
		ETag                 azcore.ETag
		ID                   string `json:"odata.id"`
		Age                  int64
		AgeType              string `json:"Age@odata.type"`
	}
	body := `{"odata.etag":"\"e\"","odata.id":"T(1)","PartitionKey":"p","RowKey":"r","Timestamp":"2014-01-02T03:04:05Z","Age@odata.type":"Edm.Int64","Age":"4","azp_stamp":"s"}`
	got, m, unknown, err := decode[own](t, body)
	want := own{"p", "r", time.Date(2014, 1, 2, 3, 4, 5, 0, time.UTC), `"e"`, "T(1)", 4, "Edm.Int64"}
	if err != nil || got != want || m.Stamp != "s" || !unknown.IsZero() {
		t.Fatalf("%+v %+v %q %v", got, m, unknown.raw, err)
	}
	old, _, _, err := decode[struct {
		aztables.Entity
		Age int32
	}](t, strings.Replace(body, `"Age@odata.type":"Edm.Int64","Age":"4"`, `"Age":4`, 1))
	if err != nil || old.PartitionKey != "p" || old.RowKey != "r" || !time.Time(old.Timestamp).Equal(want.Timestamp) || old.Age != 4 {
		t.Fatalf("%+v %v", old, err)
	}
}

func TestDecodeRefusesWhatIsNotAnEntity(t *testing.T) {
	row := `{"odata.etag":"W/\"e\"","PartitionKey":"p","RowKey":"r","Name":"x\u00e9","Age@odata.type":"Edm.Int64","Age":"41","More":[1,{"a":null}],"F":-1.5e3}`
	for _, body := range []string{
		"", " ", "null", "5", `"x"`, "[]", "[" + row + "]", row + "x", row + row, row + ",", "{", `{"Name"}`, `{"Name":}`, `{"Name":"x",}`, `{,"Name":"x"}`,
		`{"Name":"x" "Age":1}`, `{"Name" "x"}`, `{Name:"x"}`, "{\"Name\":\"x\xff\"}", "{\"\xff\":1}", `{"Name":"\q"}`, "{\"Name\":\"\n\"}", `{"Age":01}`, `{"Age":+1}`, `{"Age":1.}`,
		`{"Name":"x","Name":"x"}`, `{"Name":null,"\u004eame":"x"}`, `{"Age@odata.type":"Edm.Int64","Age@odata.type":"Edm.Int64","Age":"1"}`,
		`{"Age@odata.type":5,"Age":"1"}`, `{"More@odata.type":5,"More":"1"}`, `{"More":1,"More":2}`, `{"PartitionKey":"p","PartitionKey":"p"}`,
	} {
		_, _, _, err := decode[narrow](t, body)
		if !errors.As(err, new(*MalformedError)) {
			t.Errorf("%q: %v", body, err)
		}
	}
	for cut := range len(row) {
		_, _, _, err := decode[narrow](t, row[:cut])
		var e *MalformedError
		if !errors.As(err, &e) || e.Offset > cut {
			t.Errorf("%q: %v", row[:cut], err)
		}
	}
	if _, _, _, err := decode[narrow](t, row); err != nil {
		t.Errorf("whole row: %v", err)
	}
}

func TestDecodePageReadsRowsWhereverValueIs(t *testing.T) {
	c := codecOf[narrow](t)
	read := func(body string) (rows []narrow, metas []Meta, err error) {
		err = c.DecodePage([]byte(body), func() (any, *Meta, *Unknown) {
			rows, metas = append(rows, narrow{}), append(metas, Meta{})
			return &rows[len(rows)-1], &metas[len(metas)-1], nil
		})
		return rows, metas, err
	}
	// KEYS is replaced by the keys, which every row has.
	keyed := strings.NewReplacer("KEYS", `"PartitionKey":"p","RowKey":"r","odata.etag":"\"e\""`)
	for body, want := range map[string]int{
		`{"value":[]}`: 0, ` { "value" : [ ] , "x":1 } `: 0,
		`{"odata.metadata":"m","value":[{KEYS,"Name":"0"},{KEYS,"Name":"1","Age":1}]}`:                              2,
		`{"value":[{KEYS,"Name":"0"},{"Age@odata.type":"Edm.Int64","Age":"1","Name":"1",KEYS}],"odata.metadata":5}`: 2,
		`{"\u0076alue":[ {"Name":"0", KEYS} , {"Name":"1","Age":"1",KEYS} ],"other":{"value":[]}}`:                  2,
	} {
		rows, _, err := read(keyed.Replace(body))
		if err != nil || len(rows) != want {
			t.Errorf("%s: %v %v", body, rows, err)
			continue
		}
		for i, r := range rows {
			assert.Equal(t, r, narrow{fmt.Sprint(i), int64(i)}, body, "row", i, "is")
		}
	}
	for _, body := range []string{"", "{}", "[]", `{"value":{}}`, `{"value":null}`, `{"value":[1]}`, `{"value":[{KEYS}`, `{"value":[{KEYS}]`, `{"value":[{KEYS},]}`, `{"value":[{KEYS}]}x`,
		`{"value":[],"value":[]}`, `{"odata.error":{"code":"x"}}`, `{"value":[{KEYS}{KEYS}]}`, `{"value":[{KEYS,"Name":"x"}],}`, `{"value" []}`, `{"value":[]]`} {
		_, _, err := read(keyed.Replace(body))
		if !errors.As(err, new(*MalformedError)) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestDecodePageRefusesARowWithoutItsKeys(t *testing.T) {
	c := codecOf[narrow](t)
	for row, whole := range map[string]bool{
		`{"PartitionKey":"","RowKey":"","Name":"x"}`:   true,
		`{"Name":"x","RowKey":"r","PartitionKey":"p"}`: true,
		`{}`:                              false,
		`{"PartitionKey":"p","Name":"x"}`: false,
		`{"RowKey":"r","Name":"x"}`:       false,
		`{"PartitionKey":"p","RowKey":null,"Name":"x"}`:     false,
		`{"PartitionKey":null,"RowKey":"r","Name":"x"}`:     false,
		`{"partitionkey":"p","rowkey":"r","Name":"x"}`:      false,
		`{"x":{"PartitionKey":"p","RowKey":"r"},"Name":""}`: false,
	} {
		// The keys of the row before must not be used.
		if whole {
			row = strings.TrimSuffix(row, "}") + `,"odata.etag":"\"e\""}`
		}
		body := []byte(`{"value":[{"PartitionKey":"p","RowKey":"r","odata.etag":"\"e\""},` + row + `]}`)
		err := c.DecodePage(body, func() (any, *Meta, *Unknown) { return new(narrow), new(Meta), nil })
		if errors.As(err, new(*MalformedError)) == whole {
			t.Errorf("%s: %v", row, err)
		}
	}
}

// TestDecodePageSharesNothingWithTheBody: the caller may reuse the buffer of the body.
func TestDecodePageSharesNothingWithTheBody(t *testing.T) {
	body := []byte(`{"value":[{"odata.etag":"\"e1\"","PartitionKey":"p1","RowKey":"r1","Name":"n1","X@odata.type":"Edm.Int64","X":"1"},{"odata.etag":"\"e2\"","PartitionKey":"p2","RowKey":"r2","Name":"n\u0032","X":"2"}]}`)
	type row struct {
		v       narrow
		m       Meta
		unknown Unknown
	}
	var rows []*row
	err := codecOf[narrow](t).DecodePage(body, func() (any, *Meta, *Unknown) {
		r := new(row)
		rows = append(rows, r)
		return &r.v, &r.m, &r.unknown
	})
	assert.NoError(t, err)
	for i := range body {
		body[i] = '#'
	}
	want := []row{{narrow{"n1", 0}, Meta{PartitionKey: "p1", RowKey: "r1", ETag: `"e1"`}, Unknown{raw: []byte(`,"X@odata.type":"Edm.Int64","X":"1"`)}},
		{narrow{"n2", 0}, Meta{PartitionKey: "p2", RowKey: "r2", ETag: `"e2"`}, Unknown{raw: []byte(`,"X":"2"`)}}}
	for i, r := range rows {
		assert.DeepEqual(t, *r, want[i], "row", i)
	}
}

// TestDecodeFollowsRowsOfChangingShape decodes rows with different optional and unknown
// properties, so that the remembered order of one row is wrong for the next.
func TestDecodeFollowsRowsOfChangingShape(t *testing.T) {
	type row struct{ A, B, C, D, E string }
	names := []string{"A", "B", "C", "D", "E", "U", "V"}
	var page strings.Builder
	page.WriteString(`{"value":[`)
	var want []row
	for i := range 128 {
		var members []string
		var r row
		v := reflect.ValueOf(&r).Elem()
		for j, name := range names {
			if i>>j&1 == 0 {
				continue
			}
			members = append(members, fmt.Sprintf(`"%s":"%d"`, name, i))
			if f := v.FieldByName(name); f.IsValid() {
				f.SetString(fmt.Sprint(i))
			}
		}
		if i%3 == 0 {
			for a, b := 0, len(members)-1; a < b; a, b = a+1, b-1 {
				members[a], members[b] = members[b], members[a]
			}
		}
		if i > 0 {
			page.WriteByte(',')
		}
		page.WriteString("{" + strings.Join(members, ",") + "}")
		want = append(want, r)
	}
	page.WriteString(`]}`)
	for range 2 {
		var got []row
		err := codecOf[row](t).DecodePage([]byte(page.String()), func() (any, *Meta, *Unknown) {
			got = append(got, row{})
			return &got[len(got)-1], nil, nil
		})
		assert.NoError(t, err)
		assert.DeepEqual(assert.Now(t), got, want)
	}
}

func TestARowAfterAMalformedOneIsRead(t *testing.T) {
	codec := assert.Must(CodecFor(reflect.TypeFor[map[string]any]()))(t)
	const good = `{"PartitionKey":"p","RowKey":"r","A@odata.type":"Edm.Int64","A":"5"}`
	d := codec.decoder([]byte(`{"PartitionKey":"p","RowKey":"r","A@odata.type":1,"A":"5"}`))
	if d.object() {
		t.Fatal("an annotation is a number")
	}
	for range 3 {
		d.scanner = scanner{data: []byte(good)}
		if !d.object() || !d.atEnd() {
			t.Fatal(d.err)
		}
	}
}
