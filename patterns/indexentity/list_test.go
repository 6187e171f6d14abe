package indexentity

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

func member(row string) keys.Key { return keys.Key{Partition: "Sales", Row: row} }

// Other programs read lists, so the stored form must not change.
func TestListsAreStoredAsDocumented(t *testing.T) {
	for _, c := range []struct {
		list list
		want string
	}{{list{local: true}, `["000152","000231","O'Neil \"x\""]`}, {list{}, `["Sales/000152","Sales/000231","Sales/O'Neil \"x\""]`}} {
		row := map[string]any{}
		for _, m := range []string{"000231", `O'Neil "x"`, "000152", "000231"} {
			assert.NoError(t, assert.ErrorOf(c.list.Add(row, member(m))))
		}
		if len(row) != 1 || row["Members"] != c.want {
			t.Errorf("got %v, want %s", row, c.want)
		}
	}
}

func TestAListIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := list{local: rapid.Bool().Draw(t, "local")}
		row, model := map[string]any{"Other": "stays"}, map[string]bool{}
		text := rapid.StringMatching(`[a-c"'&<\x{2028}😀]{1,2}`)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			m := text.Draw(t, "member")
			if rapid.Bool().Draw(t, "add") {
				changed, err := l.Add(row, member(m))
				if err != nil || changed == model[m] {
					t.Fatalf("add: changed %v, %v", changed, err)
				}
				model[m] = true
			} else {
				changed, err := l.Remove(row, member(m))
				assert.NoError(t, err)
				assert.Equal(assert.Now(t), changed, model[m])
				delete(model, m)
			}
			if n, err := l.Len(row); n != len(model) || err != nil {
				t.Fatalf("%d members, want %d, %v", n, len(model), err)
			}
		}
		members, err := l.read(row)
		if err != nil || !slices.IsSortedFunc(members, compare) {
			t.Fatalf("%q, %v", members, err)
		}
		for _, m := range members {
			if k := l.key(m, "Sales"); !model[k.Row] || k.Partition != "Sales" {
				t.Fatalf("not a member: %v", k)
			}
		}
		if row["Other"] != "stays" {
			t.Fatal("another property was touched")
		}
	})
}

func TestALongListUsesSeveralPropertiesAndShrinksAgain(t *testing.T) {
	l, row := list{local: true}, map[string]any{}
	var members []string
	for i := range 20_000 {
		members = append(members, fmt.Sprintf("%06d", i))
	}
	assert.NoError(t, l.write(row, members))
	if len(row) != 6 { // 9 units a member, 32,768 a property
		t.Errorf("%d properties", len(row))
	}
	for name, v := range row {
		if n := len(utf16.Encode([]rune(v.(string)))); n > textUnits {
			t.Errorf("%s has %d units", name, n)
		}
	}
	got, err := l.read(row)
	assert.NoError(t, err)
	assert.EqualSlices(assert.Now(t), got, members)
	assert.NoError(t, l.write(row, members[:10]))
	assert.Equal(t, len(row), 1)
}

func TestAFullListIsRefusedAndTheErrorNamesTheRemedy(t *testing.T) {
	l, row := list{local: true}, map[string]any{}
	var members []string
	for i := range 70_000 {
		members = append(members, fmt.Sprintf("%06d", i))
	}
	err := l.write(row, members)
	assert.WantError(t, err, patterns.ErrTooLarge)
	assert.Contains(t, err.Error(), "blob")
}

// The text of a member is partition key, "/" and row key. In the order of texts "A B/1" is
// before "A/1".
func TestMembersAreInTheOrderOfKeys(t *testing.T) {
	l, row := list{}, map[string]any{}
	want := []keys.Key{{Partition: "A", Row: "1"}, {Partition: "A", Row: "2"}, {Partition: "A B", Row: "1"}, {Partition: "A-", Row: "1"}}
	for _, i := range []int{2, 0, 3, 1, 2} {
		assert.NoError(t, assert.ErrorOf(l.Add(row, want[i])))
	}
	// In the order of texts, and in two properties, as another program may store it.
	other := map[string]any{"Members": `["A B/1","A-/1"]`, "Members02": `["A-/1","A/1","A/2"]`}
	for _, row := range []map[string]any{row, other} {
		members := assert.Must(l.read(row))(t)
		var got []keys.Key
		for _, m := range members {
			got = append(got, l.key(m, ""))
		}
		assert.EqualSlices(t, got, want)
	}
}

func TestJSONUnitsIsTheLengthOfTheStoredText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[ -~\x{a0}-\x{2fff}😀-🙏]{0,20}`).Draw(t, "text")
		if strings.ContainsAny(s, `\`) {
			return // no key contains it
		}
		text := formatMembers([]string{s})
		assert.Equal(assert.Now(t), jsonUnits(s), len(utf16.Encode([]rune(text)))-2, s, "units")
	})
}

func TestForeignTextIsAnErrorThatNamesTheProperty(t *testing.T) {
	for _, text := range []string{"", "x", `{"a":1}`, `[1]`, `["a"`} {
		var p *patterns.PropertyError
		if _, err := (list{}).Len(map[string]any{"Members": text}); !errors.As(err, &p) || p.Property != "Members" {
			t.Errorf("%q: %v", text, err)
		}
	}
	if n, err := (list{}).Len(map[string]any{"Members": `["b","a","b"]`}); n != 2 || err != nil {
		t.Errorf("unsorted list of another program: %d, %v", n, err)
	}
}

func TestAListIsWhatEncodingJSONReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`\["?[a"\\, \[\]\x{1f}\x{2028}😀]{0,8}"?\]`).Draw(t, "text")
		var want []string
		wantErr := json.Unmarshal([]byte(text), &want)
		got, err := parseMembers(text)
		if (err == nil) != (wantErr == nil) || err == nil && !slices.Equal(got, want) {
			t.Fatalf("%s: %q, %v; want %q, %v", text, got, err, want, wantErr)
		}
		members := rapid.SliceOf(rapid.StringMatching(`[a"\\,<\x{1f}\x{2028}😀]{0,3}`)).Draw(t, "members")
		var back []string
		assert.NoError(t, json.Unmarshal([]byte(formatMembers(members)), &back))
		assert.EqualSlices(assert.Now(t), back, members)
	})
}
