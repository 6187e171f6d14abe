package fetch_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

const trip = 10 * time.Millisecond

// scanned is the cost of a scan in virtual time: a request takes trip, and a page ends after
// 100 rows, whether they match or not.
type scanned struct {
	elapsed  time.Duration
	progress patterns.Progress
	log      storagetest.Log
	cursor   int // bytes of the longest
}

func timeScan(t *testing.T, acct *storagetest.Account, f query.Filter, parallel int) (s scanned) {
	t.Helper()
	acct.ResetLog()
	synctest.Test(t, func(t *testing.T) {
		table := harness.NewTable[mark](t, acct.TablesWith(harness.Accelerated()).NewClient("Marks"), nil)
		began := time.Now()
		for page, err := range table.Scan(t.Context(), f, "", &patterns.QueryOptions{PageSize: 100, Parallel: parallel}) {
			assert.NoError(t, err)
			s.progress, s.cursor = page.Progress, max(s.cursor, len(page.Cursor))
		}
		s.elapsed, s.log = time.Since(began), acct.Log()
	})
	return s
}

// Eight parallel requests read 200 pages in a quarter of the time of sequential ones, for
// every distribution of keys.
func TestParallelScanIsFasterForAnyKeys(t *testing.T) {
	t.Parallel()
	for name, keysOf := range distributions {
		t.Run(name, func(t *testing.T) {
			ks := keysOf(rand.New(rand.NewPCG(1, 2)), 20_000)
			acct := storagetest.Start(&storagetest.Options{PageScan: 100})
			fillTable(t, acct, ks)
			acct.Fault(storagetest.On("Table.Query").Delay(trip))
			for _, c := range []struct {
				what   string
				f      query.Filter
				faster float64
			}{
				{"every row", query.Filter{}, 3.5},
				{"one row in ten", query.Prop("N").Lt(int32(2000)), 1},
				{"no row", query.Prop("N").Lt(int32(0)), 0.6},
			} {
				one, many := timeScan(t, acct, c.f, 1), timeScan(t, acct, c.f, 8)
				if want := 1 + (len(ks)-1)/100; len(one.log) > want+1 {
					t.Errorf("%s: %d requests one after the other, want %d", c.what, len(one.log), want)
				}
				if n := many.progress.Requests - len(many.log); n < 0 || n > 7 { // those canceled at the end were not sent
					t.Errorf("%s: progress reports %d requests, there were %d", c.what, many.progress.Requests, len(many.log))
				}
				if got, most := len(many.log), len(one.log)*5/4+16*8+20; got > most {
					t.Errorf("%s: %d requests, want at most %d", c.what, got, most)
				}
				if many.cursor > 4096 {
					t.Errorf("%s: a cursor of %d bytes", c.what, many.cursor)
				}
				ratio := float64(one.elapsed) / float64(many.elapsed)
				if ratio < c.faster {
					t.Errorf("%s: %.1f times faster, want %.1f", c.what, ratio, c.faster)
				}
				t.Logf("%s: %.1f times faster, %d requests instead of %d, %.2f of the rows looked at, cursor %d B", c.what,
					ratio, len(many.log), len(one.log), float64(many.log.Scanned())/float64(one.log.Scanned()), many.cursor)
			}
		})
	}
}

func TestScanOfOnePageIsOneRequest(t *testing.T) {
	ks := distributions["uuids"](rand.New(rand.NewPCG(1, 2)), 1000)
	acct := storagetest.New(t)
	table := harness.NewTable[mark](t, fillTable(t, acct, ks), nil)
	pages := 0
	for page, err := range table.Scan(t.Context(), query.Filter{}, "", nil) {
		assert.NoError(t, err)
		if pages++; page.Cursor != "" || len(page.Items) != 1000 || page.Progress != (patterns.Progress{Found: 1000, Done: 1000, Requests: 1}) {
			t.Errorf("%d items, cursor %q, %+v", len(page.Items), page.Cursor, page.Progress)
		}
	}
	if n := len(acct.Log()); n != 1 || pages != 1 {
		t.Errorf("%d requests, %d pages", n, pages)
	}
}

// The synctest bubble fails if a goroutine remains.
func TestLeavingAScanEndsItsRequests(t *testing.T) {
	ks := distributions["uuids"](rand.New(rand.NewPCG(1, 2)), 5000)
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.Start(nil)
		table := harness.NewTable[mark](t, fillTable(t, acct, ks), nil)
		acct.Fault(storagetest.On("Table.Query").Delay(trip))
		pages := 0
		for _, err := range table.Scan(t.Context(), query.Filter{}, "", &patterns.QueryOptions{PageSize: 100, Parallel: 4}) {
			assert.NoError(t, err)
			if pages++; pages == 10 {
				break
			}
		}
		synctest.Wait()
		sent := len(acct.Log())
		time.Sleep(time.Minute)
		if n := len(acct.Log()); n != sent {
			t.Errorf("%d requests after the loop was left", n-sent)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	const perRequest = 2 * time.Millisecond
	ks := distributions["uuids"](rand.New(rand.NewPCG(1, 2)), 20_000)
	acct := storagetest.Start(nil)
	table := harness.NewTable[mark](b, fillTable(b, acct, ks), nil)
	acct.Fault(storagetest.On("Table.Query").Delay(perRequest))
	run := func(b *testing.B, parallel int) (time.Duration, int) {
		acct.ResetLog()
		began, rows := time.Now(), 0
		for page, err := range table.Scan(b.Context(), query.Filter{}, "", &patterns.QueryOptions{PageSize: 100, Parallel: parallel}) {
			assert.NoError(b, err)
			rows += len(page.Items)
		}
		assert.Equal(assert.Now(b), rows, len(ks), "rows")
		return time.Since(began), len(acct.Log())
	}
	var one, many time.Duration
	var seq, par int
	for b.Loop() {
		o, n := run(b, 1)
		m, k := run(b, 8)
		one, many, seq, par = one+o, many+m, seq+n, par+k
	}
	b.ReportMetric(float64(one)/float64(many), "times-faster")
	b.ReportMetric(float64(par)/float64(seq), "times-requests")
}
