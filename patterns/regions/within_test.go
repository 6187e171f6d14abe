package regions_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestAReaderAcceptsRowsUpToAnAge(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		rows := w.insert(t, 1, 4)
		w.replicate()
		f, opts := query.PartitionKey.Eq("p00"), &patterns.QueryOptions{PageSize: 2}
		first := assert.Must(w.table.Page(t.Context(), f, "", opts))(t)
		w.account.Down(storagetest.Primary)
		time.Sleep(lag)
		for _, c := range []struct {
			age time.Duration
			ok  bool
		}{{time.Hour, true}, {2*lag + 20*time.Second, true}, {2*lag - time.Second, false}, {0, false}} {
			ctx, cancel := context.WithTimeout(regions.Within(t.Context(), c.age), 30*time.Second)
			check := func(what string, err error, s regions.Source) {
				t.Helper()
				if c.ok && (err != nil || s.Region != regions.Secondary || s.MaxAge > c.age || s.MaxAge < lag) || !c.ok && err == nil {
					t.Errorf("%s within %v: %v, %+v", what, c.age, err, s)
				}
			}
			item, err := w.table.Get(ctx, rows[0].key())
			check("row", err, item.Source)
			page, err := w.table.Page(ctx, f, first.Cursor, opts)
			check("page", err, page.Source)
			for page, err := range w.table.Scan(ctx, f, "", nil) {
				check("scan", err, page.Source)
			}
			for _, permitted := range []func() (context.Context, *regions.Report){
				func() (context.Context, *regions.Report) { return regions.Permit(ctx) },
				func() (context.Context, *regions.Report) {
					inner, report := regions.Permit(t.Context())
					return regions.Within(inner, c.age), report
				},
			} {
				inner, report := permitted()
				_, err = w.rows.Get(inner, rows[0].key())
				check("permitted", err, report.Source())
			}
			cancel()
		}
		w.account.Down()
		item := assert.Must(w.table.Get(regions.Within(t.Context(), 0), rows[0].key()))(t)
		assert.Equal(t, item.Region, regions.Primary)
		time.Sleep(time.Minute)
	})
}

// TestAStoreAndItsIndexesAreReadThroughFailures reads entities by two indexes while both regions fail and
// are slow at random. What is older than the age of the report is found, and no continuation token is
// used in the other region.
func TestAStoreAndItsIndexesAreReadThroughFailures(t *testing.T) {
	answered, all := 0, 0
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			ctx := t.Context()
			w := open(t, seed%2 == 0, &storagetest.Options{PageRows: 1 + random.IntN(4)})
			value := func(r *row) []string { return []string{fmt.Sprint(r.N % 2)} }
			local := secondaryindex.Intra("local", func(r *row) (string, bool) { return value(r)[0], true }, &secondaryindex.Options[row]{NonUnique: true})
			lookup := secondaryindex.Lookup("lookup", nil, value, nil)
			store := assert.Must(patterns.NewStore(w.rows, &patterns.StoreOptions[row]{Views: []patterns.View[row]{local, lookup}}))(t)
			insert := func(from, to int) {
				for i := from; i < to; i++ {
					assert.Must(store.Insert(ctx, &row{"p", fmt.Sprintf("%03d", i), int64(i)}))(t)
				}
			}
			insert(0, 16)
			w.replicate()
			insert(16, 20)
			young := time.Now()
			w.failAtRandom(random)
			for range 40 {
				all++
				ctx, report := regions.Permit(ctx)
				found := map[int64]int{}
				var failure error
				began := time.Now()
				if random.IntN(2) == 0 {
					for item, err := range local.On(store).Query(ctx, "p", secondaryindex.Equal("0"), nil) {
						if failure = err; err == nil {
							found[item.Value.N]++
						}
					}
				} else {
					for item, err := range lookup.On(store).Query(ctx, "p", secondaryindex.Equal("0"), nil) {
						if failure = err; err == nil {
							found[item.Value.N]++
						}
					}
				}
				if failure != nil {
					continue
				}
				answered++
				source := report.Source()
				for n := int64(0); n < 20; n += 2 {
					old := n < 16 || source.Region == regions.Primary || began.Sub(young) > source.MaxAge
					if found[n] > 1 || old && found[n] == 0 {
						t.Errorf("entity %d was found %d times, %+v", n, found[n], source)
					}
				}
			}
			assert.Equal(t, w.foreign.Load(), 0, "a continuation token was used in the other region")
			time.Sleep(time.Minute)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d of %d reads were answered", answered, all)
	if answered < all/5 {
		t.Error("too few to show anything")
	}
}
