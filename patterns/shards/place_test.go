package shards

import (
	"fmt"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

func TestPartitionsAreSpreadByWeightAndOnlyTheShareOfANewAccountMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c config
		total := 0.0
		n := rapid.IntRange(1, 8).Draw(t, "accounts")
		seed := rapid.StringMatching("[a-z]{1,8}").Draw(t, "seed")
		for i := range n {
			a := Account{Name: fmt.Sprint(seed, i), Weight: rapid.Float64Range(0.5, 4).Draw(t, "weight")}
			c.set(a)
			total += a.Weight
		}
		added := Account{Name: seed + "x", Weight: rapid.Float64Range(0.5, 4).Draw(t, "added")}
		to := c
		to.set(added)

		const partitions = 20_000
		count, moved := map[string]int{}, 0
		for i := range partitions {
			p := fmt.Sprint("customer-", i)
			was, now := c.owner(p), to.owner(p)
			count[was]++
			if was != now {
				if moved++; now != added.Name {
					t.Fatalf("a partition moves between accounts that were there before")
				}
			}
		}
		for _, m := range c.Accounts {
			if share, want := float64(count[m.Name])/partitions, m.Weight/total; share < want-0.02 || share > want+0.02 {
				t.Errorf("an account with %.3f of the weight has %.3f of the partitions", want, share)
			}
		}
		if share, want := float64(moved)/partitions, added.Weight/(total+added.Weight); share > want+0.02 || share < want-0.02 {
			t.Errorf("%.3f of the partitions move to an account with %.3f of the weight", share, want)
		}
	})
}

// The hash decides where rows are stored, so it must never change.
func TestTheOwnersOfKnownPartitionsNeverChange(t *testing.T) {
	var c config
	for name, weight := range map[string]float64{"a": 1, "b": 1, "c": 2} {
		c.set(Account{Name: name, Weight: weight})
	}
	var owners string
	for i := range 24 {
		owners += c.owner(fmt.Sprint("p", i))
	}
	assert.Equal(t, owners, "bbbcccbcbcabcabaabccbcca", "the owners are")
	if c.pin("p0", "b"); c.owner("p0") != "b" {
		t.Error("a pin has no effect")
	}
}

func TestBoundsHaveTheOrderOfTheService(t *testing.T) {
	// In UTF-16 the second of these is less than the first.
	high, surrogate := "\uffee", "\U0001f600"
	for _, c := range []struct {
		b    bound
		p    string
		want bool
	}{
		{bound{}, "", false}, {after(""), "", true}, {after(""), "a", false}, {bound{All: true}, "a", true},
		{after(high), surrogate, true}, {after(surrogate), high, false},
	} {
		assert.Equal(t, c.b.passed(c.p), c.want, c.b, "has passed", c.p)
	}
	ordered := []bound{{}, after(""), after("a"), after(surrogate), after(high), {All: true}}
	for i, b := range ordered {
		for j, c := range ordered {
			if got := b.compare(c); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%+v compared with %+v: %d", b, c, got)
			}
		}
	}
}
