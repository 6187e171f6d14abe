package jsonmerge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/jsonmerge"
)

func TestOnlyWhatHasChangedIsChanged(t *testing.T) {
	for _, c := range []struct{ stored, before, now, want string }{
		// Members that the type lacks, spelling and order stay.
		{`{"City":"Bern","Zip":"3000"}`, `{"City":"Bern"}`, `{"City":"Basel"}`, `{"City":"Basel","Zip":"3000"}`},
		{`{ "b" : 1.0, "a" : "\u0041" }`, `{"a":"A","b":1}`, `{"a":"B","b":1}`, `{ "b" : 1.0, "a" : "B" }`},
		{`{"n":12345678901234567890,"c":1}`, `{"c":1,"n":12345678901234567000}`, `{"c":2,"n":12345678901234567000}`, `{"n":12345678901234567890,"c":2}`},
		{`{"a":1e3}`, `{"a":1000}`, `{"a":1000}`, `{"a":1e3}`},
		{`{"x":{"y":{"z":1,"u":2.0}},"v":[]}`, `{"x":{"y":{"z":1}}}`, `{"x":{"y":{"z":3}}}`, `{"x":{"y":{"z":3,"u":2.0}},"v":[]}`},
		// Members that the program removes or adds.
		{`{"a":1,"b":2,"c":3}`, `{"a":1,"b":2}`, `{"b":2}`, `{"b":2,"c":3}`},
		{`{"a":1}`, `{"a":1}`, `{}`, `{}`},
		{`{"a": 1, "u": 2}`, `{"a":1}`, `{"a":1,"n":"x"}`, `{"a": 1, "u": 2, "n":"x"}`},
		{`{ }`, `{}`, `{"n":1}`, `{ "n":1}`},
		// A zero that the stored text lacks is not added, and one that the encoding omits stays.
		{`{"u":1}`, `{"City":""}`, `{"City":""}`, `{"u":1}`},
		{`{"u":1,"a":5}`, `{"City":"","a":5}`, `{"City":"","a":6}`, `{"u":1,"a":6}`},
		{`{"a":1,"o":""}`, `{"a":1}`, `{"a":2}`, `{"a":2,"o":""}`},
		{`{"a":1,"o":""}`, `{"a":1}`, `{"a":1,"o":"x"}`, `{"a":1,"o":"x"}`},
		// Names that differ in case, and duplicates: the last one counts.
		{`{"city":"Bern","CITY2":1}`, `{"City":"Bern"}`, `{"City":"Basel"}`, `{"city":"Basel","CITY2":1}`},
		{`{"City":"Bern","city":"Ulm","u":1}`, `{"City":"Ulm"}`, `{"City":"Basel"}`, `{"City":"Bern","city":"Basel","u":1}`},
		{`{"city":"Bern","City":"Ulm","u":1}`, `{"City":"Ulm"}`, `{"City":"Basel"}`, `{"city":"Bern","City":"Basel","u":1}`},
		{`{"city":1}`, `{"city":1}`, `{"City":2,"city":1}`, `{"city":1,"City":2}`},
		{`{"a":1,"a":2}`, `{"a":2}`, `{"a":3}`, `{"a":1,"a":3}`},
		// Elements: unchanged, changed in place, removed, added, moved.
		{`[{"n":1,"u":7},{"n":2,"u":8}]`, `[{"n":1},{"n":2}]`, `[{"n":1},{"n":3}]`, `[{"n":1,"u":7},{"n":3,"u":8}]`},
		{`[{"n":1,"u":7}, {"n":2,"u":8}]`, `[{"n":1},{"n":2}]`, `[{"n":2}]`, `[{"n":2,"u":8}]`},
		{`[{"n":1,"u":7},{"n":2,"u":8}]`, `[{"n":1},{"n":2}]`, `[{"n":0},{"n":1},{"n":2}]`, `[{"n":0},{"n":1,"u":7},{"n":2,"u":8}]`},
		{`[{"n":1,"u":7},{"n":2,"u":8}]`, `[{"n":1},{"n":2}]`, `[{"n":2},{"n":1}]`, `[{"n":2,"u":8},{"n":1,"u":7}]`},
		{`[{"n":1,"m":1,"u":7},{"n":2,"m":2,"u":8}]`, `[{"m":1,"n":1},{"m":2,"n":2}]`, `[{"m":2,"n":5}]`, `[{"n":5,"m":2,"u":8}]`},
		{`[1.0,2.0]`, `[1,2]`, `[2,3]`, `[2.0,3]`},
		{`[1.0,2.0,1.00]`, `[1,2,1]`, `[1,1,2]`, `[1.0,1.00,2.0]`},
		{`[[1.0],[2.0]]`, `[[1],[2]]`, `[[1],[3]]`, `[[1.0],[3]]`},
		{`[]`, `[]`, `[1]`, `[1]`},
		{`[1.0]`, `[1]`, `[]`, `[]`},
		// Nothing in common.
		{`[1.0,2.0,3.0]`, `[1,2]`, `[1,4]`, `[1,4]`},
		{`{"a":1}`, `"a1"`, `"a2"`, `"a2"`},
		{`null`, `{"a":0}`, `{"a":1}`, `{"a":1}`},
		{`{"a":null,"u":1}`, `{"a":null}`, `{"a":{"b":1}}`, `{"a":{"b":1},"u":1}`},
	} {
		got, ok := jsonmerge.Merge(c.stored, c.before, c.now)
		if !ok || got != c.want {
			t.Errorf("%s with %s -> %s\n got %s %v\nwant %s", c.stored, c.before, c.now, got, ok, c.want)
		}
	}
	if _, ok := jsonmerge.Merge(`{`, `{}`, `{}`); ok {
		t.Error("a text that is not JSON was merged")
	}
}

// The time for an array of equal elements, as long as an entity of several rows can have, does not grow with its square.
func TestALongArrayIsMerged(t *testing.T) {
	stored := "[" + strings.Repeat("0.0,", 100_000) + "1]"
	before := strings.ReplaceAll(stored, "0.0", "0")
	began := time.Now()
	got, ok := jsonmerge.Merge(stored, before, strings.Replace(before, "1]", "2]", 1))
	if want := strings.Replace(stored, "1]", "2]", 1); !ok || got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}
