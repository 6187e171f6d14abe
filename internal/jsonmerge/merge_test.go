package jsonmerge_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
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
		{`[{"n":1,"m":1,"u":7},{"n":2,"m":2,"u":8}]`, `[{"m":1,"n":1},{"m":2,"n":2}]`, `[{"m":2,"n":5}]`, `[{"m":2,"n":5}]`},
		{`[{"n":1,"m":1,"u":7}]`, `[{"m":1,"n":1}]`, `[{"m":2,"n":5}]`, `[{"m":2,"n":5}]`},
		{`[{"k":"v","n":1,"u":7},{"k":"v","n":2,"u":8}]`, `[{"k":"v","n":1},{"k":"v","n":2}]`, `[{"k":"v","n":2},{"k":"v","n":3}]`, `[{"k":"v","n":2,"u":8},{"k":"v","n":3}]`},
		{`[{"k":"v","n":1,"u":7},{"k":"v","n":2,"u":8}]`, `[{"k":"v","n":1},{"k":"v","n":2}]`, `[{"k":"v","n":3},{"k":"v","n":4}]`, `[{"k":"v","n":3},{"k":"v","n":4}]`},
		{`[{"k":"v","n":1,"u":7},{"k":"v","n":2,"u":8}]`, `[{"k":"v","n":1},{"k":"v","n":2}]`, `[{"k":"w","n":2},{"k":"w","n":1}]`, `[{"k":"w","n":2,"u":8},{"k":"w","n":1,"u":7}]`},
		{`[{"n":1,"u":7},{"n":2,"u":8}]`, `[{"n":1},{"n":2}]`, `[{"n":1,"f":true},{"n":2,"f":true}]`, `[{"n":1,"u":7,"f":true},{"n":2,"u":8,"f":true}]`},
		{`[{"n":1,"f":true,"u":7},{"n":2,"f":true,"u":8}]`, `[{"n":1,"f":true},{"n":2,"f":true}]`, `[{"n":2},{"n":1}]`, `[{"n":2,"u":8},{"n":1,"u":7}]`},
		// Equal elements.
		{`[{"n":1,"u":7},{"n":1,"u":8}]`, `[{"n":1},{"n":1}]`, `[{"n":1}]`, `[{"n":1}]`},
		{`[{"n":1,"u":7},{"n":1,"u":7}]`, `[{"n":1},{"n":1}]`, `[{"n":1}]`, `[{"n":1,"u":7}]`},
		{`[{"n":1,"u":7},{"n":1,"u":8}]`, `[{"n":1},{"n":1}]`, `[{"n":0},{"n":1},{"n":1}]`, `[{"n":0},{"n":1,"u":7},{"n":1,"u":8}]`},
		{`[{"n":1,"u":7}]`, `[{"n":1}]`, `[{"n":1},{"n":1}]`, `[{"n":1,"u":7},{"n":1}]`},
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

// TestOnlyUnknownMembersRemain removes a value whose members are all zero.
func TestOnlyUnknownMembersRemain(t *testing.T) {
	for _, c := range []struct{ stored, before, now, want string }{
		{`{"City":"Bern", "Zip":"3000"}`, `{"City":"Bern"}`, `{"City":""}`, `{"Zip":"3000"}`},
		{`{"City":"Bern","Zip":"3000" , "x":1.0}`, `{"City":"Bern"}`, `{}`, `{"Zip":"3000" , "x":1.0}`},
		{`{"city":"Bern"}`, `{"City":"Bern"}`, `{"City":""}`, ``},
		{`{"A":{"n":1,"u":{"v":2}},"B":{"n":2}}`, `{"A":{"n":1},"B":{"n":2}}`, `{"A":{"n":0},"B":{"n":0}}`, `{"A":{"u":{"v":2}}}`},
		{`{"A":{"n":1,"u":2},"B":3}`, `{"A":{"n":1}}`, `{"A":null}`, `{"B":3}`},
		{`{"A":[{"n":1,"u":2}]}`, `{"A":[{"n":1}]}`, `{"A":null}`, ``},
		{`[1]`, `[1]`, `null`, ``},
	} {
		got, ok := jsonmerge.Rest(c.stored, c.before, c.now)
		assert.Equal(t, ok, c.want != "")
		assert.Equal(t, got, c.want)
	}
	if _, ok := jsonmerge.Rest(`{`, `{}`, `{}`); ok {
		t.Error("a text that is not JSON has members")
	}
}

// TestTheWorkForNestedValuesIsLinear changes the innermost value. Twice as many levels take about twice the memory, which a
// text that is read or written again at each level does not.
func TestTheWorkForNestedValuesIsLinear(t *testing.T) {
	for name, of := range map[string][2]string{"objects": {`{"u":1.0,"a":`, `}`}, "arrays": {`[`, `]`}, "elements": {`[{"k":1,"a":`, `}]`}} {
		bytes := func(levels int) float64 {
			nest := func(inner string) string {
				return strings.Repeat(of[0], levels) + inner + strings.Repeat(of[1], levels)
			}
			stored, before, now := nest("1.0"), strings.ReplaceAll(nest("1"), "1.0", "1"), strings.ReplaceAll(nest("2"), "1.0", "1")
			var a, b runtime.MemStats
			runtime.ReadMemStats(&a)
			got, ok := jsonmerge.Merge(stored, before, now)
			runtime.ReadMemStats(&b)
			if !ok || got != nest("2") {
				t.Errorf("%s: %v, got %d bytes, want %d", name, ok, len(got), len(stored))
			}
			return float64(b.TotalAlloc - a.TotalAlloc)
		}
		bytes(10)
		if small, large := bytes(1000), bytes(4000); large > 5*small {
			t.Errorf("%s: %.0f bytes for 1,000 levels, %.0f for 4,000", name, small, large)
		}
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
