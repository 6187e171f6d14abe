package query

import (
	"fmt"
	"github.com/azpatterns/azpatterns/internal/assert"
	"math/rand/v2"
	"runtime"
	"testing"
)

// Work is counted in steps of the normal form and in bytes, because time depends on the machine.
func TestThePlannerIsLinearInTheNumberOfKeys(t *testing.T) {
	for name, of := range map[string]func(...any) Filter{
		"row keys":               func(vs ...any) Filter { return And(PartitionKey.Eq("p"), RowKey.In(vs...)) },
		"rows of partition keys": func(vs ...any) Filter { return And(PartitionKey.In(vs...), RowKey.Eq("r")) },
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) (steps, bytes float64) {
				values := make([]any, n)
				for i := range values {
					values[i] = fmt.Sprintf("%08d", i)
				}
				r := rand.New(rand.NewPCG(1, 2))
				r.Shuffle(n, func(i, j int) { values[i], values[j] = values[j], values[i] })
				f := of(values...)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				reads := Explain(f).Reads()
				runtime.ReadMemStats(&after)
				assert.Equal(assert.Now(t), len(reads), n, "reads of", "keys")
				return float64(stepsOf(t, f.root)) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
			}
			steps, bytes := cost(1_000)
			manySteps, manyBytes := cost(100_000)
			if manySteps > 1.05*steps || manyBytes > 1.2*bytes {
				t.Errorf("a key of 1,000 takes %.1f steps and %.0f bytes, one of 100,000 %.1f and %.0f", steps, bytes, manySteps, manyBytes)
			}
		})
	}
}

// stepsOf returns the steps of the normal form of n.
func stepsOf(t *testing.T, n *node) int {
	z := newNormalizer(n)
	all := z.budget
	z.visit(n)
	if z.budget < 0 {
		t.Fatal("the normal form is too large")
	}
	return all - z.budget
}
