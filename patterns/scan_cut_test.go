package patterns

import (
	"testing"

	"pgregory.net/rapid"

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

func TestRanksAreInTheOrderOfTheService(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Rune().Draw(t, "a"), rapid.Rune().Draw(t, "b")
		if got := ranked(rank(a)); got != a {
			t.Fatalf("%U has rank %d, which is of %U", a, rank(a), got)
		}
		if (rank(a) < rank(b)) != (keys.Compare(string(a), string(b)) < 0) {
			t.Fatalf("%U and %U have ranks %d and %d", a, b, rank(a), rank(b))
		}
		if rank(a) >= topRank {
			t.Fatalf("%U has rank %d, the top is %d", a, rank(a), topRank)
		}
	})
}

// A place outside, or one that no request can begin at, would lose rows or give them
// twice.
func TestAPlaceToCutLiesBehindTheLastRowAndBeforeTheEnd(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		var known alphabet
		draw := func(name string) keys.Key { return legalKey.Draw(t, name) }
		g := &segment{first: draw("first"), last: draw("last"), to: draw("to"), ahead: draw("ahead")}
		switch rapid.SampledFrom([]string{"row", "partition", "its partition", "none"}).Draw(t, "end") {
		case "row":
			g.to.Partition = g.last.Partition // the only place where a segment ends at a row
		case "partition":
			g.to.Row = ""
		case "its partition":
			g.to = afterPartition(g.last.Partition)
		case "none":
			g.to = keys.Key{}
		}
		if end := (span{To: g.to}); g.first.Compare(g.last) > 0 || end.before(g.last) {
			return
		}
		known.learn(draw("seen"), draw("seen too"))
		r, ok := g.room()
		if !ok {
			return
		}
		n := rapid.IntRange(1, 8).Draw(t, "places")
		places := g.places(r, &known, n)
		if len(places) > n {
			t.Fatalf("%d places, want at most %d", len(places), n)
		}
		for i, p := range places {
			found++
			rest := span{p.at, g.to}
			if p.at.Validate() != nil || p.at.Compare(g.last) <= 0 || rest.before(p.at) {
				t.Fatalf("%q is no place between %q and %q", p.at, g.last, g.to)
			}
			if p.at.Row != "" && !rest.single() {
				t.Fatalf("%q to %q is more than a partition", p.at, g.to)
			}
			for _, o := range places[:i] {
				if o.at == p.at {
					t.Fatalf("%q twice", p.at)
				}
			}
		}
	})
	if found == 0 {
		t.Error("no place was found at all")
	}
}

func TestACutIsBetweenPartitionsUntilOneIsLeft(t *testing.T) {
	var known alphabet
	known.learn(keys.Key{Row: "0"}, keys.Key{Row: "123456789"})
	for _, c := range []struct {
		what string
		g    segment
		want string // "partition/row", "?" in front where it is to explore
	}{
		{"digits that vary at the first place", segment{first: row("10", ""), last: row("19", "")}, "?2/"},
		{"a row is known to be there", segment{first: row("10", ""), last: row("19", ""), ahead: row("9", "")}, "6/"},
		{"one partition and others may follow", segment{first: row("p", "000"), last: row("p", "099"), to: row("q", "")}, "p5/"},
		{"one partition alone", segment{first: row("p", "000"), last: row("p", "099"), to: row("p ", "")}, "?p/1"},
		{"a part of it", segment{first: row("p", "000"), last: row("p", "009"), to: row("p", "06")}, "?p/01"},
	} {
		r, ok := c.g.room()
		if !ok {
			t.Errorf("%s: no room", c.what)
			continue
		}
		places := c.g.places(r, &known, 1)
		if len(places) != 1 {
			t.Errorf("%s: %d places", c.what, len(places))
			continue
		}
		got := places[0].at.Partition + "/" + places[0].at.Row
		if places[0].explore {
			got = "?" + got
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func row(partition, row string) keys.Key { return keys.Key{Partition: partition, Row: row} }
