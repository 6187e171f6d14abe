package fetch_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// distributions return up to n different keys.
var distributions = map[string]func(r *rand.Rand, n int) []keys.Key{
	"digits in one partition": func(_ *rand.Rand, n int) []keys.Key {
		return list(n, func(i int) keys.Key { return keys.Key{Partition: "p", Row: fmt.Sprintf("%08d", i)} })
	},
	"digits as partitions": func(_ *rand.Rand, n int) []keys.Key {
		return list(n, func(i int) keys.Key { return keys.Key{Partition: fmt.Sprintf("customer_%08d", i), Row: "0"} })
	},
	"uuids": func(r *rand.Rand, n int) []keys.Key {
		return list(n, func(int) keys.Key {
			return keys.Key{Partition: fmt.Sprintf("%08x-%04x", r.Uint32(), r.Uint32()&0xFFFF), Row: ""}
		})
	},
	"few prefixes": func(r *rand.Rand, n int) []keys.Key {
		lead := []string{"email_", "empid_", "name_", "zz_"}
		return list(n, func(i int) keys.Key {
			return keys.Key{Partition: "Sales", Row: lead[r.IntN(len(lead))] + fmt.Sprintf("%06d", i)}
		})
	},
	"one huge partition among small ones": func(r *rand.Rand, n int) []keys.Key {
		return list(n, func(i int) keys.Key {
			if r.IntN(10) == 0 {
				return keys.Key{Partition: fmt.Sprintf("q%d", r.IntN(20)), Row: fmt.Sprint(i)}
			}
			return keys.Key{Partition: "q10", Row: fmt.Sprintf("r%06d", i)}
		})
	},
	"weird text": func(r *rand.Rand, n int) []keys.Key {
		runes := []rune(" !'.09AZ_az~é中\uD7FF\uE000\uFFFD\uFFFF😀𐀀\U0010FFFF")
		text := func() string {
			out := make([]rune, r.IntN(4))
			for i := range out {
				out[i] = runes[r.IntN(len(runes))]
			}
			return string(out)
		}
		return list(n, func(int) keys.Key { return keys.Key{Partition: text(), Row: text()} })
	},
}

func list(n int, key func(int) keys.Key) []keys.Key {
	out := make([]keys.Key, n)
	for i := range out {
		out[i] = key(i)
	}
	slices.SortFunc(out, keys.Key.Compare)
	return slices.Compact(out)
}

// mark is a small row.
type mark struct {
	PartitionKey, RowKey string
	N                    int32
}

// fillTable creates a table with a row for each key. acct must be new.
func fillTable(t testing.TB, acct *storagetest.Account, ks []keys.Key) *aztables.Client {
	t.Helper()
	client := acct.TablesWith(harness.Accelerated()).NewClient("Marks")
	table := harness.NewTable[mark](t, client, nil)
	assert.NoError(t, table.Create(context.Background()))
	report, err := table.Bulk(context.Background(), func(yield func(patterns.Op[mark]) bool) {
		for i, k := range ks {
			if !yield(patterns.InsertOp(&mark{k.Partition, k.Row, int32(i)})) {
				return
			}
		}
	}, nil)
	assert.NoError(t, err, report)
	acct.ResetLog()
	return client
}

// scanAll continues from cursor until the scan ends, or until the given number of pages.
func scanAll(scan func(cursor string) iter.Seq2[patterns.ScanPage[mark], error], cursor string, stop int, add func(keys.Key)) (last patterns.ScanPage[mark], ended bool, err error) {
	pages := 0
	for page, err := range scan(cursor) {
		if err != nil {
			return last, false, err
		}
		for _, item := range page.Items {
			add(item.Key)
		}
		last = page
		if pages++; pages == stop {
			return last, page.Cursor == "", nil
		}
	}
	return last, true, nil
}

func TestScanReturnsEveryRowOnceOverAnyNumberOfRuns(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(distributions))
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		keysOf := distributions[rapid.SampledFrom(names).Draw(rt, "distribution")]
		ks := keysOf(rand.New(rand.NewPCG(seed, 1)), rapid.SampledFrom([]int{400, 60, 1, 0, 1500}).Draw(rt, "rows"))
		f := rapid.SampledFrom([]query.Filter{
			{},
			query.Prop("N").Lt(int32(50)),
			query.Prop("N").Lt(int32(3)),
			query.PartitionKey.Ge("customer_000001"),
			query.PartitionKey.Range("a", "q11"),
			query.PartitionKey.In("p", "Sales", "q10", "q3"),
			query.And(query.PartitionKey.In("q10", "p"), query.RowKey.Prefix("r0002")),
			query.And(query.PartitionKey.Eq("Sales"), query.RowKey.In("email_000001", "zz_000007")),
			query.Not(query.PartitionKey.Eq("q10")),
			query.RowKey.Gt("m"),
		}).Draw(rt, "filter")

		acct := storagetest.Start(nil)
		client := fillTable(t, acct, ks)
		for _, rule := range rapid.SliceOfN(rapid.SampledFrom([]storagetest.Rule{
			storagetest.On("Table.Query").ShortPage(7).Probability(0.5),
			storagetest.On("Table.Query").CutPage(20),
			storagetest.On("Table.Query").BoundaryPage(),
			storagetest.On("Table.Query").EmptyPage(),
			storagetest.On("Table.Query").EmptyPage().Probability(0.3),
		}), 0, 2).Draw(rt, "faults") {
			acct.Fault(rule)
		}
		opts := &patterns.QueryOptions{
			PageSize: rapid.SampledFrom([]int{10, 3, 100, 0}).Draw(rt, "page size"),
			Parallel: rapid.SampledFrom([]int{8, 1, 3}).Draw(rt, "parallel"),
		}
		got := make(map[keys.Key]int)
		cursor, ended := "", false
		for run := 0; !ended; run++ {
			table := harness.NewTable[mark](t, client, nil) // as in another process
			scan := func(cursor string) iter.Seq2[patterns.ScanPage[mark], error] {
				return table.Scan(t.Context(), f, cursor, opts)
			}
			stop := rapid.IntRange(1, 30).Draw(rt, "pages until the kill")
			page, end, err := scanAll(scan, cursor, stop, func(k keys.Key) { got[k]++ })
			assert.NoError(rt, err)
			if ended = end; !ended && page.Progress.Found != sum(got) {
				rt.Fatalf("progress reports %d rows, there were %d", page.Progress.Found, sum(got))
			}
			if cursor = page.Cursor; cursor == "" && !ended {
				rt.Fatal("no cursor although more follows")
			}
		}
		want := make(map[keys.Key]int)
		for i, k := range ks {
			if f.Match(query.Values{"PartitionKey": k.Partition, "RowKey": k.Row, "N": int32(i)}) {
				want[k] = 1
			}
		}
		if !maps.Equal(got, want) {
			for k, n := range got {
				assert.Equal(rt, want[k], n, k, "returned", "times")
			}
			for k := range want {
				if got[k] == 0 {
					rt.Errorf("%q is missing", k)
				}
			}
			rt.Fatalf("requests:\n%v", acct.Log())
		}
	})
}

func sum(m map[keys.Key]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}
