package regions_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestACursorStaysInItsRegionWhileThatAnswers(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		rows := w.insert(t, 1, 10)
		w.replicate()
		f := query.PartitionKey.Eq("p00")
		opts := &patterns.QueryOptions{PageSize: 3}
		w.account.Down(storagetest.Primary)
		first := assert.Must(w.table.Page(t.Context(), f, "", opts))(t)
		w.account.Down()
		w.wantRequests(t, 1, 1, 1)
		second := assert.Must(w.table.Page(t.Context(), f, first.Cursor, opts))(t)
		w.wantRequests(t, 0, 1, 0)
		if first.Region != regions.Secondary || second.Region != regions.Secondary || second.Items[0].Value != rows[3] {
			t.Errorf("%+v, then %+v", first, second)
		}
		w.account.Down(storagetest.Secondary)
		third := assert.Must(w.table.Page(t.Context(), f, second.Cursor, opts))(t)
		w.wantRequests(t, 1, 1, 0)
		if third.Region != regions.Primary || third.Items[0].Value != rows[6] || third.Items[0].MaxAge != 0 {
			t.Errorf("%+v", third)
		}
		w.account.Down(storagetest.Primary)
		last := assert.Must(w.table.Page(t.Context(), f, third.Cursor, opts))(t)
		if last.Region != regions.Secondary || len(last.Items) != 1 || last.Items[0].Value != rows[9] || last.Cursor != "" {
			t.Errorf("%+v", last)
		}
		// The cursor is bound to the primary, which fails, and so does the read by key.
		w.wantRequests(t, 2, 1, 0)
		_, err := w.table.Page(t.Context(), query.PartitionKey.Eq("p01"), second.Cursor, opts)
		assert.WantError(t, err, patterns.ErrBadCursor)
		w.account.Down()
		strict := assert.Must(w.table.Page(regions.Strict(t.Context()), f, second.Cursor, opts))(t)
		assert.Equal(t, strict.Region, regions.Primary)
		assert.Equal(t, strict.Items[0].Value, rows[6])
	})
}

func TestAPageOfTheSecondaryReportsItsAge(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		w.insert(t, 1, 2)
		w.replicate()
		assert.Must(w.rows.Insert(t.Context(), &row{"p00", "r0001a", 7}))(t)
		w.account.Down(storagetest.Primary)
		time.Sleep(time.Hour + 900*time.Millisecond) // the secondary receives nothing
		f := query.PartitionKey.Eq("p00")
		var got []string
		for item, err := range w.table.Query(t.Context(), f, nil) {
			assert.NoError(t, err)
			got = append(got, item.Key.Row)
			if item.MaxAge < time.Hour+900*time.Millisecond+lag || item.MaxAge > time.Hour+lag+2*time.Second {
				t.Errorf("max age %v", item.MaxAge)
			}
		}
		assert.EqualSlices(t, got, []string{"r0000", "r0001"}, "rows")
		byKeys := query.And(query.PartitionKey.Eq("p00"), query.RowKey.In("r0000", "r0001a"))
		page := assert.Must(w.table.Page(t.Context(), byKeys, "", nil))(t)
		assert.Equal(assert.Now(t), len(page.Items), 1)
		assert.Equal(t, page.Region, regions.Secondary)
	})
}

func TestAFilterThatIsTooLongStaysInItsRegion(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		w.insert(t, 1, 4)
		w.replicate()
		parts := []query.Filter{query.PartitionKey.Eq("p00")}
		for i := range query.MaxComparisons - 2 {
			parts = append(parts, query.Prop("N").Ne(int64(-i-1)))
		}
		opts := &patterns.QueryOptions{PageSize: 1}
		for _, long := range []bool{false, true} {
			if long {
				parts = append(parts, query.Prop("N").Ne(int64(-100)))
			}
			f := query.And(parts...)
			page := assert.Must(w.table.Page(t.Context(), f, "", opts))(t)
			w.account.Down(storagetest.Primary)
			next, err := w.table.Page(t.Context(), f, page.Cursor, opts)
			if long {
				var lost *storagetest.LostError
				if !errors.As(err, &lost) {
					t.Errorf("error %v", err)
				}
			} else if err != nil || next.Region != regions.Secondary || len(next.Items) != 1 {
				t.Errorf("%+v, %v", next, err)
			}
			w.account.Down()
			time.Sleep(time.Minute)
			assert.MayFail(w.table.Get(t.Context(), keys.Key{Partition: "p00", Row: "r0000"}))
			time.Sleep(time.Minute)
		}
	})
}

func TestAScanContinuesInTheOtherRegionAndEndsWithThePrimarysError(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		all := w.insert(t, 2, 20)
		w.replicate()
		opts := &patterns.QueryOptions{PageSize: 3, Parallel: 2}
		var got, kept []row
		var sources []regions.Region
		var cursor string
		for page, err := range w.table.Scan(t.Context(), query.Filter{}, "", opts) {
			assert.NoError(t, err)
			for _, item := range page.Items {
				got = append(got, item.Value)
			}
			if n := len(sources); n == 0 || sources[n-1] != page.Region {
				sources = append(sources, page.Region)
			}
			switch {
			case len(got) >= 12 && len(sources) == 1:
				w.account.Down(storagetest.Primary)
			case len(got) >= 24 && len(sources) == 2:
				cursor, kept = page.Cursor, slices.Clone(got)
				w.account.Down(storagetest.Secondary)
			}
		}
		wantOnce(t, query.Filter{}, all, nil, got)
		assert.EqualSlices(t, sources, []regions.Region{regions.Primary, regions.Secondary, regions.Primary}, "pages came from")
		w.account.Down()
		for page, err := range w.table.Scan(regions.Strict(t.Context()), query.Filter{}, cursor, opts) {
			assert.NoError(t, err)
			for _, item := range page.Items {
				kept = append(kept, item.Value)
			}
			assert.Equal(t, page.Region, regions.Primary, "a page from the")
		}
		wantOnce(t, query.Filter{}, all, nil, kept)
		w.account.Down(storagetest.Primary, storagetest.Secondary)
		w.reset()
		var lost *storagetest.LostError
		if err := assert.Failure(t, w.table.Scan(t.Context(), query.Filter{}, "", opts)); !errors.As(err, &lost) {
			t.Errorf("error %v", err)
		}
		w.wantRequests(t, 2, 1, 0)
	})
}

// TestReadsThroughFailuresLoseAndRepeatNothing reads pages and scans while both regions fail
// and are slow at random. Each row that is older than the Last Sync Time is returned once; each other row
// at most once.
func TestReadsThroughFailuresLoseAndRepeatNothing(t *testing.T) {
	filters := []query.Filter{{}, query.PartitionKey.Eq("p01"), query.PartitionKey.Range("p00", "p03"),
		query.And(query.PartitionKey.Eq("p02"), query.RowKey.Ge("r0005"), query.Prop("N").Ne(int64(9))),
		query.PartitionKey.In("p00", "p03"), query.And(query.PartitionKey.Eq("p01"), query.RowKey.In("r0001", "r0007", "r0008"))}
	for _, mode := range []string{"plain", "accelerated"} {
		t.Run(mode, func(t *testing.T) {
			for seed := range uint64(200) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(seed, 0))
					w := open(t, mode == "accelerated", &storagetest.Options{PageRows: 1 + random.IntN(5), PageBoundary: random.IntN(2) == 0})
					old := w.insert(t, 4, 12)
					w.replicate()
					for range 32 * random.IntN(2) { // with these, reads are hedged
						assert.MayFail(w.table.Page(t.Context(), query.PartitionKey.Eq("p00"), "", nil))
					}
					var young []row
					for i := range 6 {
						r := row{fmt.Sprintf("p%02d", i%4), fmt.Sprintf("r%04da", i), int64(100 + i)}
						assert.Must(w.rows.Insert(t.Context(), &r))(t)
						young = append(young, r)
					}
					w.failAtRandom(random)
					f := filters[random.IntN(len(filters))]
					var got []row
					if random.IntN(2) == 0 {
						got = w.readPages(t, f, 1+random.IntN(4))
						if !slices.IsSortedFunc(got, func(a, b row) int { return a.key().Compare(b.key()) }) {
							t.Error("not in key order")
						}
					} else {
						got = w.scan(t, f, 1+random.IntN(4))
					}
					wantOnce(t, f, old, young, got)
					assert.Equal(t, w.foreign.Load(), 0, "a continuation token was used in the other region")
					time.Sleep(time.Minute)
				})
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// failAtRandom lets outages of each region begin and end, and some replies take long.
func (w *world) failAtRandom(random *rand.Rand) {
	var mu sync.Mutex
	down := map[regions.Region]bool{}
	slow := 2 + random.IntN(30)
	seed := random.Uint64()
	chance := rand.New(rand.NewPCG(seed, 1))
	fail := func(region regions.Region) bool {
		mu.Lock()
		defer mu.Unlock()
		if chance.IntN(4) == 0 {
			down[region] = !down[region]
		}
		return down[region]
	}
	w.fail.Store(&fail)
	w.take(func(regions.Region) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		if chance.IntN(slow) == 0 {
			return 3 * time.Second
		}
		return time.Duration(1 + chance.IntN(5e6))
	})
}

// readPages reads all pages, and repeats those that fail in both regions.
func (w *world) readPages(t *testing.T, f query.Filter, size int) (got []row) {
	for cursor := ""; ; {
		page, err := w.table.Page(t.Context(), f, cursor, &patterns.QueryOptions{PageSize: size, Allow: query.TableScan})
		if err != nil {
			wantNoReply(t, err)
			continue
		}
		for _, item := range page.Items {
			got = append(got, item.Value)
		}
		if cursor = page.Cursor; cursor == "" {
			return got
		}
	}
}

func (w *world) scan(t *testing.T, f query.Filter, parallel int) (got []row) {
	for cursor, more := "", true; more; {
		for page, err := range w.table.Scan(t.Context(), f, cursor, &patterns.QueryOptions{PageSize: 2, Parallel: parallel}) {
			if err != nil {
				wantNoReply(t, err)
				break
			}
			for _, item := range page.Items {
				got = append(got, item.Value)
			}
			cursor, more = page.Cursor, page.Cursor != ""
		}
	}
	return got
}

func wantNoReply(t *testing.T, err error) {
	t.Helper()
	var e *patterns.Error
	if !errors.As(err, &e) || e.Status != 0 {
		t.Fatalf("error %+v", err)
	}
}

func wantOnce(t *testing.T, f query.Filter, old, young, got []row) {
	t.Helper()
	n := map[keys.Key]int{}
	for _, r := range got {
		n[r.key()]++
	}
	for _, r := range old {
		want := 0
		if f.Match(r) {
			want = 1
		}
		if n[r.key()] != want {
			t.Errorf("%s: row %v was returned %d times, want %d", f, r.key(), n[r.key()], want)
		}
	}
	for _, r := range young {
		if n[r.key()] > 1 || n[r.key()] == 1 && !f.Match(r) {
			t.Errorf("%s: row %v was returned %d times", f, r.key(), n[r.key()])
		}
	}
}

// Lookup lets filters match r.
func (r row) Lookup(name string) (any, bool) {
	v, ok := map[string]any{"PartitionKey": r.PartitionKey, "RowKey": r.RowKey, "N": r.N}[name]
	return v, ok
}
