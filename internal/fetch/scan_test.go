package fetch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// The bubble fails if a run leaves a goroutine behind.
func TestScanReturnsEachRowOnceOverSeveralRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReading(t, 5, 40)
		r.account.Fault(storagetest.On("Table.Query").Delay(10 * time.Millisecond)) // so that requests overlap
		p := r.plan(t, query.Filter{}, &types.QueryOptions{PageSize: 5, Parallel: 4, Allow: query.TableScan})
		seen := make(map[keys.Key]int)
		cursor, runs, last := "", 0, Progress{}
		for done := false; !done; runs++ {
			pages := 0
			p.Scan(t.Context(), r.decoder, cursor, func(page ScanPage, err error) bool {
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range keysIn(page.Rows) {
					seen[k]++
				}
				cursor, last, done = page.Cursor, page.Progress, page.Cursor == ""
				pages++
				return pages < 15
			})
		}
		for k, n := range seen {
			if n != 1 {
				t.Errorf("%q %d times", k, n)
			}
		}
		if len(seen) != 200 || last.Rows != 200 || last.Segments < 2 || runs < 3 {
			t.Errorf("%d rows in %d runs, %+v", len(seen), runs, last)
		}
	})
}
