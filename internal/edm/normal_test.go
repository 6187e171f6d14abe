package edm

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

// normalized has a field of each shape.
type normalized struct {
	Text    string
	Flag    bool
	Small   int32
	Big     int64
	Real    float64
	Real32  float32
	At      time.Time
	AtText  time.Time `table:",string"`
	Bytes   []byte
	GUID    [16]byte
	IntText int64 `table:",string"`
	Address struct {
		City string
		Zips []int
	} `table:",json"`
	Quoted float64 `json:",string"`
	Level  level
}

// level is a text whose zero value is not empty.
type level int

func (l level) MarshalText() ([]byte, error) { return []byte{"lmh"[l]}, nil }
func (l *level) UnmarshalText(b []byte) error {
	at := strings.IndexByte("lmh", strings.ToLower(string(b) + " ")[0])
	if *l = level(at); at < 0 {
		return fmt.Errorf("no level")
	}
	return nil
}

// A spelling is one of several values of a property that are the same. Those of different
// classes are not.
type spelling struct {
	name  string
	class any
	value any // nil: there is no property
}

// spellings draws a value of a property.
func spellings(t *rapid.T, name string) spelling {
	whole := int64(rapid.IntRange(-3, 3).Draw(t, "whole"))
	fraction := rapid.SampledFrom([]float64{0, 0, 0.5}).Draw(t, "fraction")
	x := float64(whole) + fraction
	pick := func(values ...any) spelling {
		class := values[0]
		if class == nil {
			values = values[1:]
		}
		return spelling{name, class, rapid.SampledFrom(values[1:]).Draw(t, "spelling")}
	}
	switch name {
	case "Small", "Big", "Real", "Real32", "None":
		all := []any{x, x}
		if fraction == 0 {
			all = append(all, int32(whole), whole)
		}
		if x == 0 {
			all = append(all, nil, math.Copysign(0, -1))
		}
		return pick(all...)
	case "Text":
		text := rapid.SampledFrom([]string{"", "a", "A", "0", "2026-03-01T00:00:00Z", "2026-03-01T02:00:00+02:00"}).Draw(t, "text")
		if text == "" {
			return pick(text, text, nil)
		}
		return pick(text, text)
	case "Flag":
		if whole > 0 {
			return pick(true, true)
		}
		return pick(false, false, nil)
	case "At", "AtText":
		at := time.Date(2026, 3, 1, 12, int(whole+3), 0, 120e6, time.UTC)
		zoned := at.In(time.FixedZone("", 7200))
		return pick(at.UnixNano(), at, at.Format(time.RFC3339Nano), zoned.Format(time.RFC3339Nano), strings.Replace(at.Format(time.RFC3339Nano), "Z", "+00:00", 1), at.Format("2006-01-02T15:04:05.0000000Z"))
	case "Bytes":
		if whole == 0 {
			return pick("", []byte{}, "", nil)
		}
		return pick(fmt.Sprint(whole), []byte{byte(whole)}, base64Of(byte(whole)))
	case "GUID":
		g := [16]byte{15: byte(whole)}
		text := string(appendGUID(nil, &g))
		if whole == 0 {
			return pick(text, g, text, nil)
		}
		return pick(text, g, text, strings.ToUpper(text))
	case "IntText":
		if whole == 0 {
			return pick(whole, "0", "00", int32(0), nil)
		}
		return pick(whole, fmt.Sprint(whole), whole, int32(whole))
	case "Quoted":
		if x == 0 {
			return pick(x, "0", "0.0", x, nil)
		}
		return pick(x, fmt.Sprint(x), fmt.Sprintf("%.2f", x), x)
	case "Address":
		if whole == 0 {
			return pick("", "{}", `{"City":""}`, `{ "Zips": [] }`, `null`, `{"City":"","Other":0.0}`, nil)
		}
		return pick(fmt.Sprint(whole), fmt.Sprintf(`{"City":"Bern","Zips":[%d,0]}`, whole), fmt.Sprintf(`{ "Zips" : [ %d.0, 0e1 ], "City": "\u0042ern", "Older":null}`, whole))
	default: // Level
		if whole <= 0 {
			return pick("l", "l", "L", nil)
		}
		if whole > 2 {
			return pick("h", "h", "H")
		}
		return pick("m", "m", "M")
	}
}

func base64Of(b byte) string {
	text, _ := json.Marshal([]byte{b})
	return strings.Trim(string(text), `"`)
}

func TestValuesAreTheSameIfAndOnlyIfTheirNormalFormsAreEqual(t *testing.T) {
	c := assert.Must(CodecFor(reflect.TypeFor[normalized]()))(t)
	names := []string{"None"}
	for _, f := range c.Fields() {
		names = append(names, f.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		a, b := spellings(t, name), spellings(t, name)
		x, y := c.Normal(name, a.value), c.Normal(name, b.value)
		assert.Equal(assert.Now(t), equalValue(x, y), a.class == b.class, name, a.value, "and", b.value, "have the normal forms", x, "and", y)
		if c.Same(name, a.value, b.value) != c.Same(name, b.value, a.value) || !c.Same(name, a.value, a.value) {
			t.Fatalf("%s: not symmetric or not reflexive: %#v, %#v", name, a.value, b.value)
		}
		if again := c.Normal(name, x); name != "Level" && !equalValue(again, x) {
			t.Fatalf("%s: the normal form of %#v is %#v", name, x, again)
		}
	})
}

func TestAValueThatAFieldCannotDecodeIsComparedAsOneWithoutAField(t *testing.T) {
	c := assert.Must(CodecFor(reflect.TypeFor[normalized]()))(t)
	for _, pair := range []struct {
		name string
		a, b any
	}{
		{"At", "soon", "later"}, {"At", "soon", time.Unix(0, 0)}, {"Small", "3", int32(3)}, {"Text", int32(3), "3"}, {"GUID", "x", "y"},
		{"Level", "none", "zero"}, {"Address", "{", "{}"}, {"Big", int64(1<<53 + 1), float64(1 << 53)}, {"Address", `{"Other":12345678901234567890}`, `{"Other":12345678901234567891}`},
		{"Address", `{"Zips":["a"]}`, `{"Zips":["b"]}`},
	} {
		if c.Same(pair.name, pair.a, pair.b) || !c.Same(pair.name, pair.a, pair.a) {
			t.Errorf("%s: %v and %v", pair.name, pair.a, pair.b)
		}
	}
	if !c.Same("Real", math.NaN(), math.NaN()) || !c.Same("None", int64(3), 3.0) || !c.Same("Address", `{"Zips":[0]}`, `{"Zips":[null]}`) {
		t.Error("a value is not the same as itself")
	}
}
