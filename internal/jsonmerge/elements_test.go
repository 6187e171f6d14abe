package jsonmerge_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/jsonmerge"
)

// element is what a program knows of an element. It does not know its secret, which is that of its ID.
type element struct {
	ID, Size int
	Kind     string `json:",omitempty"`
	Read     bool
}

type secretElement struct {
	element
	Secret string
}

// edit makes one random change of an array. A new element has an ID and a size of its own: one that has all but one member of the element
// whose place it takes cannot be distinguished from that one.
func edit(r *rand.Rand, list []element, next *int) []element {
	fresh := func() element {
		*next++
		return element{*next, 1000 + *next, []string{"", "a", "b"}[r.IntN(3)], r.IntN(2) == 0}
	}
	n := len(list)
	switch r.IntN(8) {
	case 0:
		return append(list, fresh())
	case 1:
		return slices.Insert(list, r.IntN(n+1), fresh())
	case 2:
		slices.Reverse(list)
	case 3:
		r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	case 4:
		for i := range list {
			list[i].Read = true
		}
	case 5:
		for i := range list { // replace all
			list[i] = fresh()
		}
	default:
		if n == 0 {
			return list
		}
		switch i := r.IntN(n); r.IntN(4) {
		case 0:
			return slices.Delete(list, i, i+1)
		case 1:
			list[i].Kind += "x"
		case 2:
			list[i].Size++
		case 3:
			list[i].Read = !list[i].Read
		}
	}
	return list
}

// TestMembersStayWithTheirElement makes random edits of an array. No element has the secret of another one or, if it is new, any. An
// element that was not changed keeps its own, and so does the only one that was changed, in place and in one member.
func TestMembersStayWithTheirElement(t *testing.T) {
	text := func(v any) string {
		b := assert.Must(json.Marshal(v))(t)
		return string(b)
	}
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		next := 0
		list := make([]element, r.IntN(7))
		secrets := make([]secretElement, len(list))
		for i := range list {
			next++
			list[i] = element{next, r.IntN(3), []string{"", "a", "b"}[r.IntN(3)], r.IntN(2) == 0}
			secrets[i] = secretElement{list[i], fmt.Sprint("secret", next)}
		}
		before := slices.Clone(list)
		edits := 1 + r.IntN(3)
		for range edits {
			list = edit(r, list, &next)
		}
		merged, ok := jsonmerge.Merge(text(secrets), text(before), text(list))
		var got []secretElement
		if err := json.Unmarshal([]byte(merged), &got); !ok || err != nil || len(got) != len(list) {
			t.Fatalf("seed %d: %s %v", seed, merged, err)
		}
		changed := 0
		for i := range list {
			if len(list) != len(before) || list[i] != before[i] {
				changed++
			}
		}
		for i, e := range got {
			assert.Equal(assert.Now(t), e.element, list[i], "seed", seed, "element", i, "is")
			own := fmt.Sprint("secret", e.ID)
			unchanged := slices.Contains(before, e.element)
			inPlace := edits == 1 && changed == 1 && e.ID <= len(before)
			if e.Secret != own && (e.Secret != "" || unchanged || inPlace) || e.Secret != "" && e.ID > len(before) {
				t.Fatalf("seed %d: element %d has %q:\nwas %s\nis  %s", seed, i, e.Secret, text(secrets), merged)
			}
		}
	}
}

// TestAFlagThatIsSetInAllElements changes a member of each of many elements, which it also sorts in another order.
func TestAFlagThatIsSetInAllElements(t *testing.T) {
	var stored []secretElement
	var before, now []element
	for i := range 50_000 {
		e := element{ID: i, Size: i % 7}
		stored, before = append(stored, secretElement{e, fmt.Sprint("secret", i)}), append(before, e)
		e.Read = true
		now = append(now, e)
	}
	slices.Reverse(now)
	var texts [3]string
	for i, v := range []any{stored, before, now} {
		b, _ := json.Marshal(v)
		texts[i] = string(b)
	}
	merged, ok := jsonmerge.Merge(texts[0], texts[1], texts[2])
	var got []secretElement
	if err := json.Unmarshal([]byte(merged), &got); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for i, e := range got {
		assert.Equal(assert.Now(t), e.element, now[i], i)
		assert.Equal(assert.Now(t), e.Secret, fmt.Sprint("secret", e.ID), i)
	}
}
