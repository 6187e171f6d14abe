package reindex_test

import (
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/reindex"
)

func TestACorrectTableHasNoFindingsAndCostsAPageForEachThousandRows(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		n := size(t, 5000)
		w := newWorld(t, b)
		w.fill(t, n, true)
		var last reindex.Report
		began := time.Now()
		for f, err := range reindex.Verify(t.Context(), w.Store, &reindex.Options{Progress: func(r reindex.Report) { last = r }}) {
			harness.NoError(t, err)
			t.Errorf("%v", f)
		}
		t.Logf("%d primaries: %v, %+v", n, time.Since(began), last.Requests)
		rows := 3*n + (n+99)/100
		if last.Rows != rows || last.Primaries != n || last.Passes != 1 {
			t.Errorf("%+v, want %d rows of %d primaries", last, rows, n)
		}
		if got := w.requests(); got != last.Requests.Total() || float64(got) > 1.1*float64(rows)/1000+3 {
			t.Errorf("%d requests for %d rows, reported %+v", got, rows, last.Requests)
		}
	})
}
