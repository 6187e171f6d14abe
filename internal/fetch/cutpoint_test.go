package fetch

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
)

// legalText draws texts of a few characters that keys may hold, from all over the
// order.
var legalText = rapid.Custom(func(t *rapid.T) string {
	runes := []rune(" !',-.0159:AMZ[_amz{~\u00A0é中\uD7FF\uE000\uFFFD\uFFFF😀𐀀\U0010FFFF")
	n := rapid.SampledFrom([]int{2, 1, 4, 0, 512}).Draw(t, "length")
	if n == 512 {
		out := make([]rune, n)
		for i := range out {
			out[i] = 'z'
		}
		return string(out)
	}
	return string(rapid.SliceOfN(rapid.SampledFrom(runes), n, n).Draw(t, "text"))
})

var legalKey = rapid.Custom(func(t *rapid.T) keys.Key {
	return keys.Key{Partition: legalText.Draw(t, "partition"), Row: legalText.Draw(t, "row")}
})

func TestRanksHaveTheOrderOfTheService(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Rune().Draw(t, "a"), rapid.Rune().Draw(t, "b")
		if got := ofRank(rank(a)); got != a {
			t.Fatalf("%U has rank %d, which is that of %U", a, rank(a), got)
		}
		if (rank(a) < rank(b)) != (keys.Compare(string(a), string(b)) < 0) {
			t.Fatalf("%U and %U have ranks %d and %d", a, b, rank(a), rank(b))
		}
		if rank(a) >= topRank {
			t.Fatalf("%U has rank %d, the top is %d", a, rank(a), topRank)
		}
	})
}

// A cut point outside, or one that no request can begin at, would lose rows or return
// them twice.
func TestCutPointsLieAfterTheLastRowAndBeforeTheEnd(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		var known alphabet
		draw := func(name string) keys.Key { return legalKey.Draw(t, name) }
		g := &segment{first: draw("first"), last: draw("last"), end: draw("end"), beyond: draw("beyond")}
		if g.first.Compare(g.last) > 0 {
			g.first, g.last = g.last, g.first
		}
		switch rapid.SampledFrom([]string{"row", "partition", "its partition", "none"}).Draw(t, "kind of end") {
		case "row":
			g.end.Partition = g.last.Partition // a segment ends at a row only within its partition
		case "partition":
			g.end.Row = ""
		case "its partition":
			g.end = afterPartition(g.last.Partition)
		case "none":
			g.end = keys.Key{}
		}
		if end := (keyRange{To: g.end}); end.endsBefore(g.last) {
			return
		}
		known.add(draw("seen"), draw("seen too"))
		r, ok := g.room()
		if !ok {
			return
		}
		n := rapid.IntRange(1, 8).Draw(t, "n")
		points := g.cutPoints(r, &known, n)
		if len(points) > n {
			t.Fatalf("%d cut points, want at most %d", len(points), n)
		}
		for i, p := range points {
			found++
			rest := keyRange{p.key, g.end}
			if p.key.Validate() != nil || p.key.Compare(g.last) <= 0 || rest.endsBefore(p.key) {
				t.Fatalf("%q does not lie between %q and %q", p.key, g.last, g.end)
			}
			if p.key.Row != "" && !rest.single() {
				t.Fatalf("%q to %q is more than a partition", p.key, g.end)
			}
			for _, o := range points[:i] {
				if o.key == p.key {
					t.Fatalf("%q twice", p.key)
				}
			}
		}
	})
	if found == 0 {
		t.Error("no cut point was found at all")
	}
}

func TestCutsAreBetweenPartitionsUntilOneIsLeft(t *testing.T) {
	var known alphabet
	known.add(keys.Key{Row: "0"}, keys.Key{Row: "123456789"})
	for _, c := range []struct {
		what string
		g    segment
		want string // "partition/row", after "?" if it is to explore
	}{
		{"digits that vary at the first level", segment{first: row("10", ""), last: row("19", "")}, "?2/"},
		{"a row is known to follow", segment{first: row("10", ""), last: row("19", ""), beyond: row("9", "")}, "6/"},
		{"one partition and others may follow", segment{first: row("p", "000"), last: row("p", "099"), end: row("q", "")}, "p5/"},
		{"one partition alone", segment{first: row("p", "000"), last: row("p", "099"), end: row("p ", "")}, "?p/1"},
		{"a part of it", segment{first: row("p", "000"), last: row("p", "009"), end: row("p", "06")}, "?p/01"},
	} {
		r, ok := c.g.room()
		if !ok {
			t.Errorf("%s: no room", c.what)
			continue
		}
		points := c.g.cutPoints(r, &known, 1)
		if len(points) != 1 {
			t.Errorf("%s: %d cut points", c.what, len(points))
			continue
		}
		got := points[0].key.Partition + "/" + points[0].key.Row
		if points[0].explore {
			got = "?" + got
		}
		assert.Equal(t, got, c.want, c.what)
	}
}

func row(partition, row string) keys.Key { return keys.Key{Partition: partition, Row: row} }
