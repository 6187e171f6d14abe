package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"pgregory.net/rapid"
)

func TestSortedRowsBehaveLikeASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sorted
		model := map[[2]string]*row{}
		key := rapid.SampledFrom([]string{"", "a", "b", "ab", "é", "😀", "\uFFFD", "z"})
		wide := rapid.IntRange(0, 1500)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			pk := key.Draw(t, "pk")
			from, n := wide.Draw(t, "from"), wide.Draw(t, "n")
			remove := rapid.Bool().Draw(t, "remove")
			down := rapid.Bool().Draw(t, "down")
			for i := range n {
				if down {
					i = n - 1 - i
				}
				rk := fmt.Sprintf("%04d", from+i)
				if remove {
					s.remove(pk, rk)
					delete(model, [2]string{pk, rk})
					continue
				}
				r := new(table).newRow(pk, rk, 0, nil)
				s.put(r)
				model[[2]string{pk, rk}] = r
			}
		}
		want := make([]*row, 0, len(model))
		for _, r := range model {
			want = append(want, r)
		}
		slices.SortFunc(want, func(a, b *row) int { return compareKeys(a.partition(), a.key(), b.partition(), b.key()) })
		if got := slices.Collect(s.from("", "")); !slices.Equal(got, want) || s.count != len(want) {
			t.Fatalf("%d rows, count %d, want %d", len(got), s.count, len(want))
		}
		pk, rk := key.Draw(t, "pk"), fmt.Sprintf("%04d", wide.Draw(t, "rk"))
		assert.Equal(assert.Now(t), s.get(pk, rk), model[[2]string{pk, rk}], "get", pk, rk)
		i, _ := slices.BinarySearchFunc(want, 0, func(r *row, _ int) int { return compareKeys(r.partition(), r.key(), pk, rk) })
		if got := slices.Collect(s.from(pk, rk)); !slices.Equal(got, want[i:]) {
			t.Fatalf("from %q %q: %d rows, want %d", pk, rk, len(got), len(want)-i)
		}
	})
}

func BenchmarkPut100k(b *testing.B) {
	const n = 100_000
	orders := map[string]func(i int) int{
		"ascending":  func(i int) int { return i },
		"descending": func(i int) int { return n - i },
	}
	shuffled := rand.New(rand.NewPCG(1, 2)).Perm(n)
	orders["random"] = func(i int) int { return shuffled[i] }
	for name, order := range orders {
		rows := make([]*row, n)
		for i := range rows {
			rows[i] = new(table).newRow("p", fmt.Sprintf("%08d", order(i)), 0, nil)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var s sorted
				for _, r := range rows {
					s.put(r)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
