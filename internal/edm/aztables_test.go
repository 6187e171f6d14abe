package edm

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// These tests show that the faults of aztables v1.4.1 in writing and reading values do not
// occur here.

// throughAztables returns what a plain aztables client sends for a body: it decodes the JSON
// into a map and encodes the map.
func throughAztables(t testing.TB, body string) string {
	t.Helper()
	var m map[string]any
	assert.NoError(t, json.Unmarshal([]byte(body), &m))
	out := assert.Must(json.Marshal(m))(t)
	return string(out)
}

// roundTrip writes v and reads it back, once directly and once through aztables.
func roundTrip[T any](t testing.TB, v T, check func(T)) {
	t.Helper()
	body := assert.Must(appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r"}))(t)
	for _, b := range []string{body, throughAztables(t, body)} {
		got, _, unknown, err := decode[T](t, b)
		if err != nil || !unknown.IsZero() {
			t.Fatalf("%s: %v, unknown %q", b, err, unknown.raw)
		}
		check(got)
		if same, err := EqualContent([]byte(body), []byte(b)); err != nil || !same {
			t.Fatalf("content of %s and %s: %v %v", body, b, same, err)
		}
	}
}

// aztables: EDMEntity doubles single quotes in the keys of the body.
func TestQuotesInKeysAreNotDoubled(t *testing.T) {
	for _, entity := range []any{&struct{}{}, &aztables.EDMEntity{}, &map[string]any{}} {
		body, err := appendRow(t, entity, Envelope{PartitionKey: "O'Brien", RowKey: "d'Arc"})
		assert.NoError(t, err)
		assert.Equal(t, body, `{"PartitionKey":"O'Brien","RowKey":"d'Arc"}`)
	}
}

// aztables: EDMDateTime writes local time with a Z.
func TestTimesAreWrittenInUTC(t *testing.T) {
	local := time.Date(2026, 7, 1, 12, 0, 0, 123456789, time.FixedZone("", -7*3600))
	type row struct {
		T time.Time
		E aztables.EDMDateTime
	}
	roundTrip(t, row{local, aztables.EDMDateTime(local)}, func(got row) {
		want := local.Truncate(100 * time.Nanosecond)
		if !got.T.Equal(want) || !time.Time(got.E).Equal(want) || got.T.Location() != time.UTC {
			t.Errorf("got %v %v, want %v", got.T, time.Time(got.E), want)
		}
	})
}

// aztables: whole floats are written as Int32 and, in EDMEntity, also read so.
func TestWholeDoublesRemainDoubles(t *testing.T) {
	type row struct{ F float64 }
	for _, f := range []float64{0, 3, -3, 1e15, 1e20, 1e21, 1e300, math.MaxInt32 + 1, 1 << 53, 0.1, 1e-7, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Copysign(0, -1)} {
		roundTrip(t, row{f}, func(got row) {
			assert.Equal(t, math.Float64bits(got.F), math.Float64bits(f), f, "became", got.F)
		})
		body, _ := appendRow(t, &row{f}, Envelope{})
		for _, b := range []string{body, throughAztables(t, body)} {
			properties, _, _, err := decode[map[string]any](t, b)
			if v, ok := properties["F"].(float64); err != nil || !ok || v != f {
				t.Errorf("%s is a %T %v: %v", b, properties["F"], properties["F"], err)
			}
			entity, _, _, err := decode[aztables.EDMEntity](t, b)
			if v, ok := entity.Properties["F"].(float64); err != nil || !ok || v != f {
				t.Errorf("%s is a %T in an EDMEntity: %v", b, entity.Properties["F"], err)
			}
		}
	}
	// Rows of older code that stored an Int32.
	if got, _, _, err := decode[row](t, `{"F":3}`); err != nil || got.F != 3 {
		t.Errorf("%v %v", got, err)
	}
}

// aztables: NaN and the infinities cannot be marshaled.
func TestNaNAndInfinitiesAreStored(t *testing.T) {
	type row struct {
		F float64
		S float32
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		roundTrip(t, row{f, float32(f)}, func(got row) {
			if !(got.F == f || f != f && got.F != got.F) || !(float64(got.S) == f || f != f && got.S != got.S) {
				t.Errorf("%v became %v", f, got)
			}
		})
	}
}

// aztables: invalid UTF-8 is silently replaced.
func TestInvalidUTF8IsRefused(t *testing.T) {
	for _, text := range []string{"\xff", "a\xc3", "\xed\xa0\x80", strings.Repeat("x", 40) + "\x80"} {
		_, err := appendRow(t, &struct{ S string }{text}, Envelope{})
		var e *types.PropertyError
		if !errors.As(err, &e) || e.Property != "S" || e.Want != "UTF-8" {
			t.Errorf("%q: %v", text, err)
		}
		if _, _, _, err := decode[struct{ S string }](t, `{"S":"`+text+`"}`); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// aztables: EDMEntity reads values annotated Edm.Double, Edm.String or Edm.Boolean as
// nil, and a null as int32(0).
func TestAnnotatedValuesAreReadAndNullIsAbsent(t *testing.T) {
	const body = `{"D@odata.type":"Edm.Double","D":"Infinity","W@odata.type":"Edm.Double","W":3,"S@odata.type":"Edm.String","S":"x","B@odata.type":"Edm.Boolean","B":true,"I@odata.type":"Edm.Int32","I":5,"N":null,"M@odata.type":"Edm.Int64","M":null}`
	want := map[string]any{"D": math.Inf(1), "W": 3.0, "S": "x", "B": true, "I": int32(5)}
	properties, _, _, err := decode[map[string]any](t, body)
	entity, _, _, err2 := decode[aztables.EDMEntity](t, body)
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), err2, nil)
	for name, v := range want {
		assert.Equal(t, properties[name], v)
		assert.Equal(t, entity.Properties[name], v)
	}
	assert.Equal(assert.Now(t), len(entity.Properties), len(want))
	assert.Equal(t, len(properties), len(want)+2)
}

// aztables: an int64 above 1<<53 is rounded.
func TestLargeInt64IsExact(t *testing.T) {
	type row struct {
		I int64
		U uint64
		Q int64 `json:",string"`
	}
	for _, i := range []int64{1<<53 + 1, math.MaxInt64, math.MinInt64, -1<<53 - 1} {
		in := row{i, uint64(i) &^ (1 << 63), i}
		roundTrip(t, in, func(got row) {
			assert.Equal(t, got, in, "became")
		})
	}
	if got, _, _, err := decode[row](t, `{"I":9007199254740993}`); err != nil || got.I != 9007199254740993 {
		t.Errorf("a number: %v %v", got.I, err)
	}
}

// aztables: EDM fields of a plain struct are not annotated.
func TestEDMFieldsAreAnnotated(t *testing.T) {
	type row struct {
		I aztables.EDMInt64
		T aztables.EDMDateTime
		G aztables.EDMGUID
		B aztables.EDMBinary
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	in := row{5, aztables.EDMDateTime(at), "c9da6455-213d-42c9-9a79-3e9149a57833", aztables.EDMBinary("ab")}
	body := assert.Must(appendRow(t, &in, Envelope{}))(t)
	properties, _, _, err := decode[map[string]any](t, body)
	if err != nil || properties["I"] != int64(5) || !at.Equal(properties["T"].(time.Time)) || uuid.UUID(properties["G"].([16]byte)).String() != string(in.G) || string(properties["B"].([]byte)) != "ab" {
		t.Errorf("%v %v", properties, err)
	}
	// Rows that a plain client stored as strings can be read.
	old := assert.Must(json.Marshal(in))(t)
	got, _, _, err := decode[row](t, `{"odata.metadata":"m",`+string(old[1:]))
	if err != nil || got.I != in.I || !time.Time(got.T).Equal(at) || got.G != in.G || string(got.B) != "ab" {
		t.Errorf("%s: %+v %v", old, got, err)
	}
}

// aztables: EDMDateTime refuses offsets and empty text, and writes the year 10000.
func TestDateTimeOffsetsAndYears(t *testing.T) {
	type row struct{ T aztables.EDMDateTime }
	got, _, _, err := decode[row](t, `{"T@odata.type":"Edm.DateTime","T":"2026-01-02T03:04:05+01:00"}`)
	if err != nil || !time.Time(got.T).Equal(time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC)) {
		t.Errorf("%v %v", got, err)
	}
	_, _, _, err = decode[row](t, `{"T@odata.type":"Edm.DateTime","T":""}`)
	var e *types.PropertyError
	if !errors.As(err, &e) || e.Property != "T" {
		t.Error(err)
	}
	_, err = appendRow(t, &row{aztables.EDMDateTime(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))}, Envelope{})
	if !errors.As(err, &e) || e.Property != "T" {
		t.Error(err)
	}
}
