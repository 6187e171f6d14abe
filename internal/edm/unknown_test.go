package edm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// fullRow has a property of every type, annotated as the service annotates.
const fullRow = `{"odata.metadata":"m","odata.etag":"\"e\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-01-01T00:00:00Z","Name":"n",` +
	`"S":"a\"\u00e9","B":true,"I":-5,"F":2.5,"W":3.0,"D@odata.type":"Edm.Double","D":"NaN","L@odata.type":"Edm.Int64","L":"9007199254740993",` +
	`"T@odata.type":"Edm.DateTime","T":"2026-01-01T00:00:00.1234567Z","G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833",` +
	`"Y@odata.type":"Edm.Binary","Y":"AP8=","N":null,"M@odata.type":"Edm.Int64","M":null,"O@odata.type":"Edm.Int64","azp_stamp":"s","azp_other":"o","X@odata.note":"n"}`

// names returns the names of the properties of u.
func names(u *Unknown) []string {
	var names []string
	u.each(func(p unknownProperty) { names = append(names, string(p.name)) })
	return names
}

func TestUnknownPropertiesSurviveReadAndWrite(t *testing.T) {
	type named struct{ Name string }
	v, m, unknown, err := decode[named](t, fullRow)
	assert.NoError(t, err)
	assert.EqualSlices(assert.Now(t), names(&unknown), []string{"S", "B", "I", "F", "W", "D", "L", "T", "G", "Y", "azp_other"})
	v.Name = "changed"
	body := assert.Must(appendRow(t, &v, Envelope{PartitionKey: m.PartitionKey, RowKey: m.RowKey, Unknown: &unknown, Stamp: m.Stamp}))(t)
	want := strings.Replace(fullRow, `"Name":"n"`, `"Name":"changed"`, 1)
	for _, b := range []string{body, throughAztables(t, body)} {
		if same, err := EqualContent([]byte(want), []byte(b)); err != nil || !same {
			t.Errorf("%v %v\n%s\n%s", same, err, want, b)
		}
	}
	assert.Contains(t, body, `"S":"a\"\u00e9"`)
	assert.Contains(t, body, `"W@odata.type":"Edm.Double","W":3.0`)
}

// TestUnknownPropertiesDoNotHideFields writes the unknown properties of one type with another
// type.
func TestUnknownPropertiesDoNotHideFields(t *testing.T) {
	_, _, unknown, err := decode[struct{}](t, `{"Name":"old","Age":5,"More":"x"}`)
	assert.NoError(t, err)
	body, err := appendRow(t, &struct{ Name string }{"new"}, Envelope{Unknown: &unknown})
	if want := `{"PartitionKey":"","RowKey":"","Name":"new","Age":5,"More":"x"}`; err != nil || body != want {
		t.Errorf("%s %v", body, err)
	}
	body, err = appendRow(t, &map[string]any{"Age": int32(6)}, Envelope{Unknown: &unknown})
	if want := `{"PartitionKey":"","RowKey":"","Age":6,"Name":"old","More":"x"}`; err != nil || body != want {
		t.Errorf("%s %v", body, err)
	}
}

func TestUnknownPropertiesCountAgainstTheLimits(t *testing.T) {
	var b strings.Builder
	for i := range 252 {
		fmt.Fprintf(&b, `,"P%03d":%d`, i, i)
	}
	_, _, unknown, err := decode[struct{}](t, "{"+b.String()[1:]+"}")
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), len(names(&unknown)), 252)
	assert.Equal(t, assert.ErrorOf(appendRow(t, &struct{}{}, Envelope{Unknown: &unknown})), nil)
	assert.WantError(t, assert.ErrorOf(appendRow(t, &struct{ Name string }{"x"}, Envelope{Unknown: &unknown})), azerr.ErrTooLarge, "253 properties")
	_, _, unknown, err = decode[struct{}](t, `{"S":"`+strings.Repeat(`\u0041`, 32769)+`"}`)
	assert.NoError(t, err)
	assert.WantError(t, assert.ErrorOf(appendRow(t, &struct{}{}, Envelope{Unknown: &unknown})), azerr.ErrTooLarge, "long text")
}

// TestUnknownPropertiesArePairedWithTheirAnnotations shuffles members: an annotation may be
// far before or after its property.
func TestUnknownPropertiesArePairedWithTheirAnnotations(t *testing.T) {
	var members []string
	for i := range 40 {
		members = append(members, fmt.Sprintf(`"P%02d@odata.type":"Edm.Int64"`, i), fmt.Sprintf(`"P%02d":"%d"`, i, i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		properties, _, _, err := decode[map[string]any](t, "{"+strings.Join(members, ",")+"}")
		assert.NoError(t, err)
		for i := range 40 {
			if name := fmt.Sprintf("P%02d", i); properties[name] != int64(i) {
				t.Fatalf("%s is %T %v", name, properties[name], properties[name])
			}
		}
	}
}

// TestADecoderDropsNamesAboveItsLimit decodes a page with more names than a decoder
// remembers, and a row that alone has more.
func TestADecoderDropsNamesAboveItsLimit(t *testing.T) {
	var page strings.Builder
	page.WriteString(`{"value":[`)
	const rowCount = 60
	for i := range rowCount {
		if i > 0 {
			page.WriteByte(',')
		}
		fmt.Fprintf(&page, `{"Name":"%d"`, i)
		n := 50
		if i == rowCount/2 {
			n = 3000
		}
		for j := range n {
			fmt.Fprintf(&page, `,"P%d_%d@odata.type":"Edm.Int64","P%d_%d":"%d"`, i, j, i, j, j)
		}
		page.WriteByte('}')
	}
	page.WriteString(`]}`)
	c := codecOf[struct{ Name string }](t)
	d := newDecoder(c.plan)
	for range 3 {
		var rows []*struct{ Name string }
		var rests []*Unknown
		d.scanner = scanner{data: []byte(page.String())}
		err := d.decodePage(func() (any, *Meta, *Unknown) {
			rows, rests = append(rows, &struct{ Name string }{}), append(rests, new(Unknown))
			return rows[len(rows)-1], nil, rests[len(rests)-1]
		}, nil, true)
		assert.NoError(t, err)
		assert.Equal(assert.Now(t), len(rows), rowCount)
		for i, unknown := range rests {
			got := names(unknown)
			if rows[i].Name != fmt.Sprint(i) || len(got) < 50 || got[49] != fmt.Sprintf("P%d_49", i) || unknown.IsZero() {
				t.Fatalf("row %d %q has %q", i, rows[i].Name, got)
			}
		}
		if len(d.members) > len(d.plan.members)+2*maxDynamicFields+100 {
			t.Errorf("%d members kept", len(d.members))
		}
	}
}

// TestNamesWithEscapesAreNotMistaken has a name whose text looks like two members.
func TestNamesWithEscapesAreNotMistaken(t *testing.T) {
	page := []byte(`{"value":[{"A\":1,\"B":"1"},{"A":1,"B":"1"},{"A\":1,\"B":"1"},{"A":1,"B":"1"},{"\ud800":1}]}`)
	var rows []*map[string]any
	assert.NoError(t, codecOf[map[string]any](t).DecodePage(page, func() (any, *Meta, *Unknown) {
		rows = append(rows, new(map[string]any))
		return rows[len(rows)-1], nil, nil
	}))
	for i, want := range []map[string]any{{`A":1,"B`: "1"}, {"A": int32(1), "B": "1"}, {`A":1,"B`: "1"}, {"A": int32(1), "B": "1"}, {}} {
		want["PartitionKey"], want["RowKey"] = "", ""
		assert.DeepEqual(t, *rows[i], want, "row", i)
	}
}

func TestMapsStorePropertiesWithoutAField(t *testing.T) {
	type open struct {
		Name string
		More map[string]any `table:",bag"`
	}
	v, _, unknown, err := decode[open](t, `{"Name":"n","A":"x","L@odata.type":"Edm.Int64","L":"5","azp_x":"kept"}`)
	if err != nil || !reflect.DeepEqual(v, open{"n", map[string]any{"A": "x", "L": int64(5)}}) || !slices.Equal(names(&unknown), []string{"azp_x"}) {
		t.Fatalf("%+v %v %v", v, names(&unknown), err)
	}
	body, err := appendRow(t, &v, Envelope{Unknown: &unknown})
	if want := `{"PartitionKey":"","RowKey":"","Name":"n","A":"x","L@odata.type":"Edm.Int64","L":"5","azp_x":"kept"}`; err != nil || body != want {
		t.Errorf("%s %v", body, err)
	}
	if !codecOf[open](t).Open() || !codecOf[map[string]any](t).Open() || !codecOf[aztables.EDMEntity](t).Open() {
		t.Error("a type with a map for unknown properties is not open")
	}
	entity, m, _, err := decode[aztables.EDMEntity](t, fullRow)
	if err != nil || entity.ETag != `"e"` || entity.PartitionKey != "p" || entity.Metadata != "m" || m.ETag != `"e"` {
		t.Errorf("%+v %v", entity, err)
	}
	for name, want := range map[string]any{"L": aztables.EDMInt64(9007199254740993), "G": aztables.EDMGUID("c9da6455-213d-42c9-9a79-3e9149a57833"), "I": int32(-5), "W": 3.0, "B": true, "S": "a\"é"} {
		assert.Equal(t, entity.Properties[name], want, name, "is")
	}
	body = assert.Must(appendRow(t, &entity, Envelope{PartitionKey: "p", RowKey: "r", Stamp: "s"}))(t)
	if same, err := EqualContent([]byte(strings.Replace(fullRow, `"azp_other":"o",`, "", 1)), []byte(body)); err != nil || !same {
		t.Errorf("%s %v", body, err)
	}
	for _, bad := range []string{`{"A":{}}`, `{"A":[1]}`, `{"A@odata.type":"Edm.Foo","A":"x"}`, `{"A@odata.type":"Edm.Int64","A":"x"}`, `{"A@odata.type":"Edm.Int32","A":4294967296}`,
		`{"A@odata.type":"Edm.Guid","A":"x"}`, `{"A@odata.type":"Edm.Binary","A":"*"}`, `{"A@odata.type":"Edm.DateTime","A":5}`, `{"A":1e999}`, `{"A":"\udc00"}`} {
		_, _, _, err := decode[map[string]any](t, bad)
		var e *types.PropertyError
		if !errors.As(err, &e) || e.Property != "A" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestUnknownTypesSurvive has an annotation that is not a known type.
func TestUnknownTypesSurvive(t *testing.T) {
	for _, members := range []string{`"A@odata.type":"Edm.Decimal","A":"1"`, `"A":"1","A@odata.type":"Edm.Decimal"`} {
		_, _, unknown, err := decode[struct{}](t, `{`+members+`,"B":{"x":[1]}}`)
		assert.NoError(t, err)
		body, err := appendRow(t, &struct{}{}, Envelope{Unknown: &unknown})
		if want := `{"PartitionKey":"","RowKey":"","A@odata.type":"Edm.Decimal","A":"1","B":{"x":[1]}}`; err != nil || body != want {
			t.Errorf("%s %v", body, err)
		}
	}
}
