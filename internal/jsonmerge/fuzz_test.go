package jsonmerge_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/jsonmerge"
)

// FuzzMerge merges texts that need not have to do with each other. The result is JSON. If nothing
// has changed, it is the stored text, and members of an object that neither encoding has keep their
// text.
func FuzzMerge(f *testing.F) {
	for _, s := range [][3]string{
		{`{ "b" : 1.0, "a" : "\u0041" }`, `{"a":"A","b":1}`, `{"a":"B","b":1}`},
		{`{"a":1,"a":2,"A":3}`, `{"a":2}`, `{}`},
		{`[{"n":1,"u":7}, {"n":2,"u":8}]`, `[{"n":1},{"n":2}]`, `[{"n":2}]`},
		{`{"x":{"y":{"z":1,"u":2.0}},"v":[]}`, `{"x":{"y":{"z":1}}}`, `{"x":{"y":[]},"w":null}`},
		{` [1e3, 2] `, `[1000,2]`, `[2,1000,3]`},
		{`{"":1,"\u0000":2}`, `{"":1}`, `{"":2,"\ud800":3}`},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, stored, before, now string) {
		valid := json.Valid([]byte(stored)) && json.Valid([]byte(before)) && json.Valid([]byte(now))
		merged, ok := jsonmerge.Merge(stored, before, now)
		assert.Equal(assert.Now(t), ok, valid, "ok is")
		if !ok {
			return
		}
		if !json.Valid([]byte(merged)) {
			t.Fatalf("%s, from %s to %s: no JSON: %s", stored, before, now, merged)
		}
		if same, _ := jsonmerge.Merge(stored, before, before); same != string(bytes.TrimSpace([]byte(same))) || !bytes.Contains([]byte(stored), []byte(same)) {
			t.Fatalf("%s without a change of %s: %s", stored, before, same)
		}

		// A member of a name that the others cannot have.
		const name, value = "\u2603\u2603", "[1.00,\t{ \"x\" : 1E2 }]"
		object := bytes.TrimSpace([]byte(stored))
		if object[0] != '{' || bytes.Contains([]byte(before+now+stored), []byte("2603")) || bytes.Contains([]byte(before+now+stored), []byte("\u2603")) ||
			bytes.TrimSpace([]byte(before))[0] != '{' || bytes.TrimSpace([]byte(now))[0] != '{' {
			return
		}
		with := `{"` + name + `":` + value + `,` + string(object[1:])
		if len(bytes.TrimSpace(object[1:])) == 1 {
			with = `{"` + name + `":` + value + `}`
		}
		merged, ok = jsonmerge.Merge(with, before, now)
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(merged), &members); !ok || err != nil || string(members[name]) != value {
			t.Fatalf("%s, from %s to %s: the unknown member is %s in %s, %v", with, before, now, members[name], merged, err)
		}
	})
}
