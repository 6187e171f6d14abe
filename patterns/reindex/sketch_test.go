package reindex

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

// sets draws two sets with some elements in common.
func sets(t *rapid.T) (common, added, subtracted []string) {
	all := rapid.SliceOfNDistinct(rapid.StringN(0, 40, 400), 0, 300, rapid.ID[string]).Draw(t, "elements")
	for _, e := range all {
		switch rapid.IntRange(0, 3).Draw(t, "set") {
		case 0:
			added = append(added, e)
		case 1:
			subtracted = append(subtracted, e)
		default:
			common = append(common, e)
		}
	}
	return common, added, subtracted
}

// shareCells reports whether two elements have the same cells, so that a sketch cannot distinguish them.
func shareCells(s sketch, elements []string) bool {
	seen := map[[hashes]int]bool{}
	for _, e := range elements {
		at, _ := s.cellsOf([]byte(e))
		if seen[at] {
			return true
		}
		seen[at] = true
	}
	return false
}

func TestASketchDecodesExactlyTheDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		common, added, subtracted := sets(t)
		parts := [3]sketch{newSketch(300), newSketch(300), newSketch(300)}
		put := func(elements []string, sign int64) {
			for _, e := range elements {
				parts[rapid.IntRange(0, 2).Draw(t, "part")].add([]byte(e), sign)
			}
		}
		put(common, 1)
		put(subtracted, -1)
		put(added, 1)
		put(common, -1)

		var sum sketch
		b, _ := json.Marshal(parts[0])
		assert.NoError(t, json.Unmarshal(b, &sum))
		for _, p := range parts[1:] {
			sum.merge(p)
		}
		all, complete := sum.decode()
		if !complete {
			if shareCells(sum, slices.Concat(added, subtracted)) { // of a few million pairs; a run divides them
				t.Skip("two elements have the same cells")
			}
			t.Fatalf("%d differences of a sketch for 300 were not decoded", len(added)+len(subtracted))
		}
		var got, want []string
		for _, d := range all {
			got = append(got, fmt.Sprint(d.sign, string(d.element)))
		}
		for _, e := range added {
			want = append(want, fmt.Sprint(1, e))
		}
		for _, e := range subtracted {
			want = append(want, fmt.Sprint(-1, e))
		}
		slices.Sort(got)
		slices.Sort(want)
		assert.EqualSlices(t, got, want, "decoded")
	})
}

func TestASketchReportsThatItHasTooManyDifferences(t *testing.T) {
	s := newSketch(0)
	added := map[string]bool{}
	for i := range 1000 {
		e := fmt.Sprint("element ", i)
		added[e] = true
		s.add([]byte(e), 1)
	}
	all, complete := s.decode()
	if complete {
		t.Error("1000 differences were decoded by a sketch for 64")
	}
	for _, d := range all {
		if !added[string(d.element)] || d.sign != 1 {
			t.Errorf("decoded %q, which was not added", d.element)
		}
	}
}

func FuzzCursor(f *testing.F) {
	s := newSketch(0)
	s.add([]byte("element"), 1)
	b, _ := json.Marshal(state{Sketch: s})
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s state
		if json.Unmarshal(b, &s) != nil || len(s.Sketch) != sizeFor(s.Differences) {
			return
		}
		again, _ := json.Marshal(s)
		assert.NoError(t, json.Unmarshal(again, &s))
		s.Sketch.decode()
	})
}

func TestASketchTakesTheSameMemoryForAnyNumberOfElements(t *testing.T) {
	element := func(i int) []byte { return fmt.Appendf(nil, "view/partition/row %08d/partition/primary", i) }
	var least, most int
	for _, n := range []int{10_000, 100_000} {
		s := newSketch(4096)
		for i := range n {
			s.add(element(i), 1)
		}
		b, _ := json.Marshal(s) // as large as it gets: nothing was subtracted yet
		for i := range n {
			if i%(n/1000) != 0 {
				s.add(element(i), -1)
			}
		}
		if all, complete := s.decode(); !complete || len(all) != 1000 {
			t.Errorf("%d elements: %d of 1000 differences", n, len(all))
		}
		t.Logf("%d elements: %d bytes", n, len(b))
		if least == 0 {
			least = len(b)
		}
		most = len(b)
	}
	if most > least+least/10 || most > 2<<20 {
		t.Errorf("%d bytes for ten times the elements, instead of %d", most, least)
	}
}
