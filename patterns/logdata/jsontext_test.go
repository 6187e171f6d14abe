package logdata

import (
	"bytes"
	"encoding/json"
	"github.com/azpatterns/azpatterns/internal/assert"
	"math"
	"reflect"
	"testing"
)

func FuzzTextIsEncodedLikeEncodingJSON(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c/d", "\b\f\n\r\t\x00\x1f\x7f", "<b>&", "\u2027\u2028\u2029\u202a", "\u2128", "\xe2", "\xe2\x80", "\xff\xfea\xff", "\U0001f600\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := assert.Must(json.Marshal(validUTF8(s)))(t)
		if got := appendText(nil, s); !bytes.Equal(got, want) {
			t.Errorf("%q became %s, not %s", s, got, want)
		}
		got, rest, ok := appendUnescaped(nil, append(want[1:], "}"...))
		if !ok || string(got) != validUTF8(s) || string(rest) != "}" {
			t.Errorf("%s became %q, %q, %v", want, got, rest, ok)
		}
	})
}

// Lines of the Writer and of other programs must mean the same, whichever decoder reads them.
func FuzzALineIsDecodedLikeEncodingJSON(f *testing.F) {
	for _, line := range []string{
		`{"time":"2014-07-31T18:04:05.5Z","level":"ERROR","msg":"disk full","attrs":{"disk":3}}`,
		`{"arrived":"2014-07-31T18:04:05+02:00"}`, `{"time":"2014-07-31T18:04:05Z","attrs":{"a":1} }`, `{"time":"2014-07-31T18:04:05Z","attrs":{},"msg":"a"}`,
		`{"time":"2014-07-31T18:04:05Z","msg":"\u003c\ud83d\ude00\n\/"}`, `{"time":"2014-07-31T18:04:05Z","msg":"\ud83d"}`, `{"time":"2014-07-31T18:04:05Z","msg":"\ud83d\u0041"}`,
		`{"time":"0001-01-01T00:00:00+01:00"}`, `{"time":"2014-07-31T18:04:05,5Z","msg":"a"}`, `{"time":"2014-07-31T18:04:05Z","msg":"a","msg":"b"}`, `{"time":"2014-07-31T18:04:05Z","msg":"`,
		`{"time":"2014-07-31T18:04:05Z","level":"a"}}`, "{\"time\":\"2014-07-31T18:04:05Z\",\"msg\":\"\xff\"}", "{\"time\":\"2014-07-31T18:04:05Z\",\"msg\":\"\t\"}",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, ok := parseOwnLine(line)
		if !ok {
			return
		}
		want := assert.Must(parseAnyLine(line))(t)
		assert.DeepEqual(t, got, want)
	})
}

func TestTheReaderDecodesLinesOfTheWriterDirectly(t *testing.T) {
	for _, r := range []Record{{}, {Arrived: true}, {Type: "INFO", Message: "a<b\n\u2028\U0001f600"}, {Message: "m", Attrs: []byte(`{"a":{"b":"}\""}}`)}} {
		r.Time = testHour
		line := assert.Must(JSON.AppendLine(nil, &r))(t)
		if got, ok := parseOwnLine(line); !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("%s: got %+v, %v", line, got, ok)
		}
	}
}

func TestFloatsAreEncodedLikeEncodingJSON(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e-9, 1e20, 1e21, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		want := assert.Must(json.Marshal(f))(t)
		if got := appendFloat(nil, f); !bytes.Equal(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestASpecialByteIsFoundAtEachPositionOfAText(t *testing.T) {
	for size := range 20 {
		for at := range size {
			for c := range 256 {
				text := bytes.Repeat([]byte{'='}, size)
				text[at] = byte(c)
				want, _ := json.Marshal(validUTF8(string(text)))
				if got := appendText(nil, string(text)); !bytes.Equal(got, want) {
					t.Fatalf("%q became %s, not %s", text, got, want)
				}
			}
		}
	}
}
