package request

import (
	"encoding/json"
	"github.com/azpatterns/azpatterns/internal/assert"
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
		assert.Equal(assert.Now(t), len(last), len(judge), "names", "in", b)
		for name, raw := range judge {
			if m := last[name]; m.Kind == StringValue {
				var s string
				assert.NoError(t, json.Unmarshal(raw, &s), name)
				assert.Equal(assert.Now(t), s, m.Text, name)
			} else if m.Kind != NullValue && m.Text != string(raw) {
				t.Fatalf("%q: %q, want %q", name, m.Text, raw)
			}
		}
	})
}
