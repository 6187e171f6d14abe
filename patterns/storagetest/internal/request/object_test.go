package request

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzScanObject(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, ` { "a" : "b\u0041\n" , "c":null,"d":true,"e":-0.5e+7}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud800"}`,
		`{"a":01}`, `{"a":1,}`, `{"a":[1]}`, "{\"a\":\"\xff\"}", `{"a":tru}`, `{"a" 1}`, `{"a":"\u00"}`, `{"a":1}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := scanObject(b)
		var judge map[string]json.RawMessage
		err := json.Unmarshal(b, &judge)
		if ok && (err != nil || !utf8.Valid(b)) {
			t.Fatalf("accepted text that encoding/json refuses: %q", b)
		}
		if !ok {
			return
		}
		for _, m := range got {
			if !utf8.ValidString(m.Name) || !utf8.ValidString(m.Text) {
				t.Fatalf("text is not UTF-8 in %q", b)
			}
		}
		last := map[string]Member{}
		for _, m := range got {
			last[m.Name] = m
		}
		if len(last) != len(judge) {
			t.Fatalf("%d names, want %d, in %q", len(last), len(judge), b)
		}
		for name, raw := range judge {
			if m := last[name]; m.Kind == StringValue {
				var s string
				if err := json.Unmarshal(raw, &s); err != nil || s != m.Text {
					t.Fatalf("%q: %q, want %q", name, m.Text, s)
				}
			} else if m.Kind != NullValue && m.Text != string(raw) {
				t.Fatalf("%q: %q, want %q", name, m.Text, raw)
			}
		}
	})
}
