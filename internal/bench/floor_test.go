package bench

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAllWaysOfARowSucceedWithTheRightDataAndRequests(t *testing.T) {
	for _, row := range Rows() {
		t.Run(row.Name, func(t *testing.T) {
			measure := func(t *testing.T) {
				results := assert.Must(MeasureRow(t.Context(), row, Options{Rounds: 1}))(t)
				goal := Goal{Requests: row.Goal.Requests}
				for _, r := range results {
					if row.Latency == 0 && len(goal.Missed(r)) > 0 {
						t.Errorf("%s: %v requests, the goal is %v", r.Way, r.Requests, goal.Requests)
					}
				}
			}
			if row.Latency > 0 {
				synctest.Test(t, measure)
				return
			}
			measure(t)
		})
	}
}

func TestAFigureThatDoesNotReachItsGoalIsNamed(t *testing.T) {
	goal := Goal{Ratio: 5, Allocs: 66, Bytes: 100, Requests: 1.15, Time: time.Millisecond}
	reached := Result{Ratio: 5, Allocs: 66.4, Bytes: 100, Requests: 1.154, Time: time.Millisecond}
	if missed := goal.Missed(reached); len(missed) > 0 {
		t.Errorf("missed %q", missed)
	}
	late := Result{Ratio: 4.9, Allocs: 66.6, Bytes: 101, Requests: 1.16, Time: time.Millisecond + 1}
	assert.Equal(t, strings.Join(goal.Missed(late), " "), "ratio allocations bytes requests time", "missed")
	if missed := (Goal{}).Missed(late); len(missed) > 0 {
		t.Errorf("missed %q without a goal", missed)
	}
}
