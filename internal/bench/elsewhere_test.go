package bench

import (
	"testing"
	"testing/synctest"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// A lone change with a Finisher makes the requests that it makes without one, but returns earlier.
func TestAChangeWithRowsElsewhereTakesTheseRoundTrips(t *testing.T) {
	want := []ElsewhereResult{
		{Way: "by hand, as in the guide", Requests: 2, Trips: 2, After: 4},
		{Way: "a Store", Requests: 6, Trips: 5},
		{Way: "a Store with a Finisher", Requests: 4, Trips: 3, After: 2},
		{Way: "a Store", Requests: 6, Trips: 6},
		{Way: "a Store with a Finisher", Requests: 3, Trips: 3, After: 3},
		{Way: "a Store", Requests: 14, Trips: 7},
		{Way: "a Store with a Finisher", Requests: 11, Trips: 4, After: 3},
		{Way: "a Store", Requests: 8, Trips: 7},
		{Way: "a Store with a Finisher", Requests: 5, Trips: 4, After: 3},
	}
	synctest.Test(t, func(t *testing.T) {
		got := assert.Must(Elsewhere(t.Context()))(t)
		assert.Equal(t, len(got), len(want))
		for i, r := range got {
			w := want[i]
			w.Change, w.Former = r.Change, r.Former
			assert.Equal(t, r, w)
		}
	})
}
