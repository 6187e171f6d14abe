//go:build !race

// The race detector allocates memory of its own and drops what is pooled.

package bench

import (
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The number of allocations and of bytes does not depend on the machine, so a test can
// check the goals.
func TestRowsReachTheGoalsForAllocations(t *testing.T) {
	t.Setenv(storagetest.ProductionVariable, "") // the goals are for pages of 1,000 rows
	for _, row := range Rows() {
		if row.Latency > 0 {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			goal := Goal{Allocs: row.Goal.Allocs, Bytes: row.Goal.Bytes}
			row.Hand = nil
			results := assert.Must(MeasureRow(t.Context(), row, Options{Rounds: 3, Runs: 100 / max(row.Per, 1)}))(t)
			if r := results[len(results)-1]; len(goal.Missed(r)) > 0 {
				t.Errorf("%.1f allocations, %.0f bytes; the goals are %v and %v", r.Allocs, r.Bytes, goal.Allocs, goal.Bytes)
			}
		})
	}
}

func TestFiguresReachTheirGoals(t *testing.T) {
	for _, f := range Figures() {
		if v, err := f.Measure(t.Context()); err != nil || f.Exact && v > f.Goal {
			t.Errorf("%s: %v %s, error %v, want at most %v", f.Name, v, f.Unit, err, f.Goal)
		}
	}
}
