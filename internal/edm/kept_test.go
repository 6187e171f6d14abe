package edm

import (
	"encoding/json"
	"github.com/azpatterns/azpatterns/internal/assert"
	"math/big"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

type keptChild struct {
	City string
	Zip  *int `json:",omitempty"`
}

// keptRows has fields of every shape, of which some are omitted if they are zero.
type keptFields struct {
	S    string
	SO   string `table:",omitempty"`
	B    bool
	BO   bool `table:",omitempty"`
	I    int64
	I32  int32
	IO   int32 `table:",omitempty"`
	F    float64
	F32  float32
	T    time.Time
	TP   *time.Time
	G    [16]byte
	Bin  []byte
	BinO []byte `table:",omitempty"`
	Addr netip.Addr
	Big  *big.Int
	J    keptChild      `table:",json"`
	JP   *keptChild     `table:",json"`
	JS   []keptChild    `table:",json"`
	JM   map[string]any `table:",json"`
	Raw  json.RawMessage
	QF   float64 `json:",string"`
	QB   bool    `json:",string"`
	Name string
}

// member returns the text of a member of a row, with its annotation.
func memberOf(body, name string) string {
	found := ""
	eachMember([]byte(","+strings.TrimSuffix(strings.TrimPrefix(body, "{"), "}")), func(p unknownProperty) {
		if string(p.name) == name {
			found = string(p.member)
		}
	})
	return found
}

// keptMembers are properties as other programs store them, each in a way in which this package
// would not.
var keptMembers = []string{
	`"T":"2026-03-01T00:00:00+02:00"`, `"T":"2026-03-01T00:00:00.120Z"`, `"T":"2026-03-01T00:00:00+00:00"`, `"T":"2026-03-01T00:00:00-00:30"`,
	`"T":"2026-03-01T00:00:00.123456789123Z"`, `"T":"0001-01-01T00:00:00Z"`, `"TP":"2026-03-01T00:00:00+02:00"`,
	`"T@odata.type":"Edm.DateTime","T":"2026-03-01T00:00:00.1200000Z"`, `"T@odata.type":"Edm.DateTime","T":"2026-03-01T00:00:00.12Z"`,
	`"T@odata.type":"Edm.DateTime","T":"2026-03-01T00:00:00.123456789Z"`, `"T@odata.type":"Edm.DateTime","T":"2026-03-01T01:00:00+01:00"`,
	`"T@odata.type":"Edm.DateTime","T":"0001-01-01T00:00:00Z"`, `"T@odata.type":"Edm.DateTime","T":"1500-01-01T00:00:00Z"`,
	`"I":7`, `"I@odata.type":"Edm.Int64","I":"007"`, `"I@odata.type":"Edm.Int64","I":"-0"`, `"I32":-0`, `"I32@odata.type":"Edm.Int64","I32":"5"`,
	`"F@odata.type":"Edm.Double","F":1.50`, `"F@odata.type":"Edm.Double","F":1e2`, `"F@odata.type":"Edm.Double","F":3.0`, `"F":3`, `"F":-0`, `"F@odata.type":"Edm.Double","F":3`,
	`"F@odata.type":"Edm.Double","F":0.10000000000000000001`, `"F@odata.type":"Edm.Double","F":"NaN"`, `"F@odata.type":"Edm.Double","F":0.0000001`,
	`"F@odata.type":"Edm.Double","F":9.0000005e+06`, `"F32@odata.type":"Edm.Double","F32":0.123456789012`, `"F32":4`, `"F@odata.type":"Edm.Double","F":-0.0`,
	`"G@odata.type":"Edm.Guid","G":"C9DA6455-213D-42C9-9A79-3E9149A57833"`, `"G":"C9DA6455-213D-42C9-9A79-3e9149A57833"`,
	`"Bin@odata.type":"Edm.Binary","Bin":"YWJ="`, `"Bin":"YQ\r\n=="`, `"Bin@odata.type":"Edm.Binary","Bin":"AP+\/"`, `"BinO@odata.type":"Edm.Binary","BinO":""`,
	`"SO":""`, `"BO":false`, `"IO":0`, `"S":"a\u0041\/"`,
	`"Addr":"::0001"`, `"Addr":""`, `"Big":"0012"`, `"Big":"+7"`,
	`"J":"{\"City\":\"Bern\",\"Zip\":3000,\"More\":[1.0,{\"a\":1e3}]}"`, `"J":"null"`, `"J":"{}"`, `"JP":"null"`, `"JP":" {\"City\": \"<Bern>\"}"`,
	`"JS":"[]"`, `"JS":"[{\"City\":\"Bern\",\"x\":12345678901234567890}]"`, `"JS":"null"`, `"JM":"{\"b\":1.0,\"a\":12345678901234567890}"`, `"JM":"{}"`,
	`"Raw":"{\"a\": 1}"`, `"Raw":"null"`, `"QF":"1.50"`, `"QF":"3"`, `"QF@odata.type":"Edm.Double","QF":3.0`, `"QB":"true"`, `"QB":true`,
}

// TestWhatWasNotChangedIsWrittenAsItWasRead reads a row, changes another field, and writes it.
func TestWhatWasNotChangedIsWrittenAsItWasRead(t *testing.T) {
	for _, members := range keptMembers {
		before := `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r",` + members + `,"Name":"old"}`
		v, _, unknown, err := decode[keptFields](t, before)
		if err != nil {
			t.Errorf("%s: %v", members, err)
			continue
		}
		v.Name = "new"
		merge := unknown.OnlyFields()
		for _, u := range []*Unknown{&unknown, &merge} {
			body, err := appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: u})
			body = strings.Replace(body, `{"PartitionKey":"p","RowKey":"r"`, "", 1)
			want := "," + members
			if short := strings.Replace(want, `,"F@odata.type":"Edm.Double"`, "", 1); strings.HasPrefix(body, short) {
				want = short // the number shows the type
			}
			if err != nil || strings.Replace(body, `,"Name":"new"`, "", 1) != want+"}" && !sameText(body, want) {
				t.Errorf("%s:\nwrites %s %v", members, body, err)
			}
		}
	}
}

// sameText reports whether the row has only the member and the name, and the member the same type and
// text.
func sameText(body, want string) bool {
	rest := strings.Replace(strings.TrimSuffix(body, "}"), `,"Name":"new"`, "", 1)
	d := newDecoder(contentCodec.plan)
	d.data = []byte(rest)
	same, n := false, 0
	eachMember([]byte(rest), func(p unknownProperty) {
		n++
		same = d.sameMember([]byte(want), &p.tok)
	})
	return same && n == 1
}

// TestAZeroThatIsKeptSurvivesJSON writes a row as JSON and reads it again, before another field changes.
func TestAZeroThatIsKeptSurvivesJSON(t *testing.T) {
	type row struct {
		Count float64 `table:",omitempty"`
		Photo []byte  `table:",omitempty"`
		Name  string
	}
	const stored = `"Count":0,"Photo@odata.type":"Edm.Binary","Photo":""`
	v, _, unknown, err := decode[row](t, `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r",`+stored+`,"Name":"old"}`)
	assert.NoError(t, err)
	codec := assert.Must(CodecFor(reflect.TypeFor[row]()))(t)
	text := assert.Must(codec.Append(nil, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &unknown}))(t)
	var again row
	var m Meta
	var rest Unknown
	assert.NoError(t, codec.DecodeWritten(text, &again, &m, &rest))
	again.Name = "new"
	assert.Contains(t, assert.Must(appendRow(t, &again, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &rest}))(t), stored)
}

// TestWhatWasReadSurvivesJSON writes rows as JSON and reads them again, before another field changes. Only what the service would refuse
// is written as a text of the same value.
func TestWhatWasReadSurvivesJSON(t *testing.T) {
	codec := assert.Must(CodecFor(reflect.TypeFor[keptFields]()))(t)
	for _, members := range keptMembers {
		v, _, unknown, err := decode[keptFields](t, `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r",`+members+`,"Name":"old"}`)
		assert.NoError(t, err, members)
		text, err := codec.Append(nil, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &unknown})
		var again keptFields
		var m Meta
		var rest Unknown
		if err2 := codec.DecodeWritten(text, &again, &m, &rest); err != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", text, err, err2)
		}
		again.Name = "new"
		body, err := appendRow(t, &again, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &rest})
		body = strings.Replace(body, `{"PartitionKey":"p","RowKey":"r"`, "", 1)
		refused := strings.Contains(members, "Edm.DateTime") && (strings.Contains(members, ".123456789Z") || strings.HasSuffix(members, `+01:00"`))
		if same := sameText(body, ","+members); err != nil || same == refused {
			t.Errorf("%s: writes %s %v", members, body, err)
		}
	}
}

// TestUnknownMembersStayIfAllOthersWereZero changes a member of a value that omitempty would omit.
func TestUnknownMembersStayIfAllOthersWereZero(t *testing.T) {
	type row struct {
		Note struct{ Price, Size int } `table:",json,omitempty"`
	}
	v, _, unknown, err := decode[row](t, `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r","Note":"{\"Price\":0,\"Zip\":\"3000\"}"}`)
	assert.NoError(t, err)
	v.Note.Price = 2
	const want = `"Note":"{\"Price\":2,\"Zip\":\"3000\"}"`
	assert.Contains(t, assert.Must(appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &unknown}))(t), want)
}

// TestUnknownMembersStayIfAllOthersBecomeZero makes a value zero that omitempty omits.
func TestUnknownMembersStayIfAllOthersBecomeZero(t *testing.T) {
	type address struct {
		City string
		Geo  struct{ Lat float64 }
	}
	type row struct {
		Note address         `table:",json,omitempty"`
		Ptr  *address        `table:",json,omitempty"`
		List []address       `table:",json,omitempty"`
		More map[string]any  `table:",json,omitempty"`
		Raw  json.RawMessage `table:",json,omitempty"`
		Name string
	}
	for _, c := range []struct{ property, stored, want string }{
		{"Note", `{"City":"Bern","Zip":"3000","Geo":{"Lat":1.50,"Lon":2.0}}`, `{"Zip":"3000","Geo":{"Lon":2.0}}`},
		{"Note", `{"City":"Bern", "Geo":{"Lat":1}}`, ``},
		{"Ptr", `{"City":"Bern","Zip":"3000"}`, ``}, // the program has removed the whole
		{"List", `[{"City":"Bern","Zip":"3000"}]`, ``},
		{"More", `{"a":1.0}`, ``},
		{"Raw", `{"a":1.0}`, ``},
	} {
		v, _, unknown, err := decode[row](t, `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r","Name":"x","`+c.property+`":`+strconv.Quote(c.stored)+`}`)
		assert.NoError(t, err)
		v = row{Name: "x"}
		want := `"Name":"x"`
		if c.want != "" {
			want = `"` + c.property + `":` + strconv.Quote(c.want) + "," + want
		}
		if body, err := appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &unknown}); err != nil || body != `{"PartitionKey":"p","RowKey":"r",`+want+`}` {
			t.Errorf("%s: writes %s %v, want %s", c.property, body, err, want)
		}
	}
}
