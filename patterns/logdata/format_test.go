package logdata_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/logdata"
)

// awkward are texts that are hard to encode.
var awkward = []string{"", "plain", "a;b", `"`, `""`, `a"b;c`, "line\nbreak", "\r\n", "&quot;", "&amp;#10;", "&notit;", "<b>&lt;", "\x00\x7f", "\u2028é\U0001f600",
	"~", "%3B", `\n\"`, " lead", "\xff\xfe", "{}", "\u0085\ufffd"}

func FuzzEveryRecordSurvivesEncoding(f *testing.F) {
	for i, text := range awkward {
		f.Add(int64(i), int64(i*1001), text, awkward[len(awkward)-1-i], `{"a":`+string(assert.Must(json.Marshal(text))(f))+`, "b":[1,2]}`, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, sec, ns int64, kind, message, attrs string, arrived bool) {
		r := logdata.Record{Time: time.Unix(sec, ns%1e9).UTC(), Arrived: arrived, Type: kind, Message: message}
		if y := r.Time.Year(); y < 1 || y > 9999 {
			t.Skip("a Writer does not accept this time")
		}
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(attrs)) == nil && compact.Bytes()[0] == '{' {
			r.Attrs = compact.Bytes()
		}
		want := r
		want.Type, want.Message = valid(kind), valid(message)
		for _, format := range []logdata.Format{logdata.JSON, logdata.Delimited} {
			line, err := format.AppendLine(nil, &r)
			if err != nil || bytes.IndexByte(line, '\n') >= 0 {
				t.Fatalf("%s: %q, %v", format.Name(), line, err)
			}
			got, err := format.ParseLine(line)
			assert.NoError(t, err, format.Name(), line)
			if !got.Time.Equal(want.Time) || got.Arrived != want.Arrived || got.Type != want.Type || got.Message != want.Message ||
				string(got.Attrs) != string(want.Attrs) {
				t.Errorf("%s: got %+v, want %+v", format.Name(), got, want)
			}
		}
	})
}

// A record that was parsed can be encoded and parsed again without a change.
func FuzzEveryLineIsARecordOrALineError(f *testing.F) {
	for _, line := range []string{
		`{"time":"2014-07-31T18:04:05.5Z","level":"ERROR","msg":"disk full","attrs":{"disk":3}}`,
		`{"arrived":"2014-07-31T18:04:05+02:00"}`, `{"time":"2014-07-31T18:04:05Z","attrs":[]}`, `{"time":null}`, `{}`, `null`, `[]`, ``,
		`{"time":"2014-07-31T18:04:05Z"}{}`, `{"time":"0001-01-01T00:00:00+01:00"}`, `{"time":"2014-07-31T18:04:05Z","attrs":null}`,
		`2014-07-31T18:04:05.5Z;ERROR;disk full;"{&quot;disk&quot;:3}"`, `~2014-07-31T18:04:05Z;;;`, `"2014-07-31T18:04:05Z";"a`, `a;"b"c;d;e`, `;;;`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, format := range []logdata.Format{logdata.JSON, logdata.Delimited} {
			r, err := format.ParseLine(line)
			if err != nil {
				var bad *logdata.LineError
				if !errors.As(err, &bad) {
					t.Errorf("%s: %v", format.Name(), err)
				}
				continue
			}
			var compact bytes.Buffer
			if len(r.Attrs) > 0 {
				assert.NoError(t, json.Compact(&compact, r.Attrs))
				r.Attrs = compact.Bytes()
			}
			again := assert.Must(format.AppendLine(nil, &r))(t)
			got, err := format.ParseLine(again)
			if err != nil || !got.Time.Equal(r.Time) || got.Arrived != r.Arrived || got.Type != valid(r.Type) || got.Message != valid(r.Message) ||
				string(got.Attrs) != string(r.Attrs) {
				t.Errorf("%s: %q became %q: %+v, %v", format.Name(), line, again, got, err)
			}
		}
	})
}

// valid returns the text as it is stored.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
