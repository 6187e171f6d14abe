package logtail_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/logtail"
)

func TestTailOfOnePartitionReadsOnlyTheWantedRows(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		for range 12 {
			assert.NoError(t, assert.ErrorOf(log.AppendAll(t.Context(), "s", make([]claim, 100))))
		}
		for _, c := range []struct{ n, requests, rows int }{
			{1, 1, 1},
			{10, 1, 10},
			{1000, 1, 1000},
			{1001, 2, 1001},
			{1200, 2, 1200},
			{5000, 2, 1200},
		} {
			b.ResetRequests()
			assert.Equal(t, len(assert.All(t, log.Tail(t.Context(), "s", c.n))), c.rows, "tail of", c.n, "entries")
			wantReturned(t, b, c.rows)
			b.WantRequests(t, map[string]int{"Table.Query": c.requests})
		}
		for range log.Since(t.Context(), "s", time.Time{}) {
			break
		}
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		assert.All(t, log.Since(t.Context(), "s", time.Time{}))
		b.WantRequests(t, map[string]int{"Table.Query": 2})
	})
}

// The share of a bucket is n/N + 3·√(n/N), rounded up, plus 1, but at most n: 9 for 10 entries
// in 4 buckets, 2 for 2 entries.
func TestTailOfBucketsReadsOnlyTheirShares(t *testing.T) {
	fill := func(t *testing.T, log *logtail.Log[claim], bucketOf func(i int) int) {
		for i := range 100 {
			store(t, log, bucketOf(i), "s", day(1).Add(time.Duration(i)*time.Second), fmt.Sprint(i))
		}
	}
	evenly := func(i int) int { return i % 4 }
	inOne := func(int) int { return 2 }
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, c := range []struct {
			name           string
			bucketOf       func(int) int
			n              int
			requests, rows int
		}{
			{"one, evenly", evenly, 1, 4, 4},
			{"two, evenly", evenly, 2, 4, 8},
			{"ten, evenly", evenly, 10, 4, 36},
			{"all, evenly", evenly, 100, 4, 100},
			{"more than all, evenly", evenly, 1000, 4, 100},
			// The other buckets are empty. The shares are 8 and 9; the second request to the
			// full one is for the last wanted entry.
			{"nine, all in one", inOne, 9, 5, 9},
			{"ten, all in one", inOne, 10, 5, 10},
			// 41, then 59.
			{"all, all in one", inOne, 100, 5, 100},
		} {
			t.Run(c.name, func(t *testing.T) {
				log := newLog(t, b.Table(t), &logtail.Options[claim]{Buckets: 4})
				fill(t, log, c.bucketOf)
				b.ResetRequests()
				es := assert.All(t, log.Tail(t.Context(), "s", c.n))
				assert.Equal(t, len(es), min(c.n, 100), "entries")
				for i, e := range es {
					assert.Equal(assert.Now(t), e.Value.What, fmt.Sprint(99-i), "position", i, "entry")
				}
				wantReturned(t, b, c.rows)
				b.WantRequests(t, map[string]int{"Table.Query": c.requests})
			})
		}
		// A loop that ends early makes the first requests only.
		log := newLog(t, b.Table(t), &logtail.Options[claim]{Buckets: 4})
		fill(t, log, inOne)
		b.ResetRequests()
		seen := 0
		for _, err := range log.Tail(t.Context(), "s", 100) {
			assert.NoError(t, err)
			if seen++; seen == 41 { // the share
				break
			}
		}
		b.WantRequests(t, map[string]int{"Table.Query": 4})
		assert.All(t, log.Range(t.Context(), "s", day(1), day(2)))
		b.WantRequests(t, map[string]int{"Table.Query": 4})
		assert.All(t, log.Range(t.Context(), "s", day(3), day(4)))
		b.WantRequests(t, map[string]int{"Table.Query": 4})
	})
}

func TestTailRarelyNeedsMoreThanOneRequestPerBucket(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		const buckets, tails = 8, 60
		log := newLog(t, b.Table(t), &logtail.Options[claim]{Buckets: buckets})
		for s := range tails {
			for range 40 {
				appended(t, log, fmt.Sprint(s), claim{})
			}
		}
		b.ResetRequests()
		for s := range tails {
			assert.Equal(assert.Now(t), len(assert.All(t, log.Tail(t.Context(), fmt.Sprint(s), 30))), 30, "entries")
		}
		// In a simulation one such tail in 280 made a further request. Therefore 7 in 60
		// indicate a wrong share.
		if n := len(b.Requests()); n > tails*buckets+tails/10 {
			t.Errorf("%d requests for %d tails of %d buckets", n, tails, buckets)
		}
	})
}

// wantReturned checks how many rows the service returned, which only the in-process account
// counts.
func wantReturned(t testing.TB, b *harness.Backend, want int) {
	t.Helper()
	if got := b.Requests().Returned(); b.InProcess() && got != want {
		t.Errorf("%d rows returned, want %d", got, want)
	}
}
