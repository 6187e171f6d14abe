package fetch_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// readSegment scans from the cursor of a segment, and continues after every few pages from
// the cursor of the last, as another process would.
func readSegment(t testing.TB, open func() *patterns.Table[mark], f query.Filter, cursor string, stop int, opts *patterns.QueryOptions) (all []keys.Key) {
	t.Helper()
	for ended := false; !ended; {
		n, next := 0, ""
		for page, err := range open().Scan(t.Context(), f, cursor, opts) {
			assert.NoError(t, err)
			for _, item := range page.Items {
				all = append(all, item.Key)
			}
			if next = page.Cursor; stop > 0 {
				if n++; n == stop {
					break
				}
			}
		}
		cursor, ended = next, next == ""
	}
	return all
}

func TestTheSegmentsOfAScanAreSharedByMachines(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := harness.NewTable[mark](t, client, nil)
		opts := &patterns.QueryOptions{PageSize: 5, Parallel: 2}
		want := map[keys.Key]int{}
		batch := table.Batch()
		for i, k := range distributions["digits in one partition"](nil, 90) {
			batch.Insert(&mark{k.Partition, k.Row, int32(i)})
			want[k] = 1
		}
		assert.Must(batch.Commit(t.Context()))(t)
		for _, p := range []string{"O'Brien", "a b", "é"} {
			harness.Insert(t, table, mark{p, "r", 0})
			want[keys.Key{Partition: p, Row: "r"}] = 1
		}
		b.ResetRequests()
		cursors := assert.Must(table.Segments(t.Context(), query.Filter{}, 4, opts))(t)
		if n := len(b.Requests()); n > 4*4+32 {
			t.Errorf("%d requests", n)
		}
		if len(cursors) < 3 || len(cursors) > 4 {
			t.Errorf("%d segments, want about 4", len(cursors))
		}
		// Rows that are inserted afterwards belong to a segment too.
		for _, k := range []keys.Key{{Partition: "0", Row: "r"}, {Partition: "p", Row: "000000455"}, {Partition: "p", Row: "1"}, {Partition: "~", Row: ""}} {
			harness.Insert(t, table, mark{k.Partition, k.Row, 0})
			want[k] = 1
		}
		got := map[keys.Key]int{}
		for _, cursor := range cursors {
			assert.Equal(t, url.QueryEscape(cursor), cursor, "the cursor", "is not safe in a URL")
			other := func() *patterns.Table[mark] { return harness.NewTable[mark](t, client, nil) }
			rows := readSegment(t, other, query.Filter{}, cursor, 2, opts)
			if len(rows) < 5 {
				t.Errorf("a segment of %d rows", len(rows))
			}
			for _, k := range rows {
				got[k]++
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d rows, %d different, want %d", sum(got), len(got), len(want))
		}
		if _, err := table.Segments(t.Context(), query.Prop("None").Eq("x"), 4, opts); err == nil {
			t.Error("a filter that the table refuses was divided")
		}
		for _, err := range table.Scan(t.Context(), query.PartitionKey.Eq("p"), cursors[0], opts) {
			assert.WantError(t, err, patterns.ErrBadCursor)
		}
	})
}

func TestAnyDivisionHasEveryRowOnce(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(distributions))
	rapid.Check(t, func(rt *rapid.T) {
		keysOf := distributions[rapid.SampledFrom(names).Draw(rt, "distribution")]
		ks := keysOf(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)), rapid.SampledFrom([]int{300, 60, 1, 0}).Draw(rt, "rows"))
		f := rapid.SampledFrom([]query.Filter{
			{},
			query.Prop("N").Lt(int32(50)),
			query.PartitionKey.Ge("customer_000001"),
			query.PartitionKey.In("p", "Sales", "q10", "q3"),
			query.And(query.PartitionKey.Eq("p"), query.RowKey.Prefix("0000")),
			query.And(query.PartitionKey.Eq("Sales"), query.RowKey.In("email_000001", "zz_000007")),
			query.Not(query.PartitionKey.Eq("q10")),
		}).Draw(rt, "filter")
		acct := storagetest.Start(nil)
		client := fillTable(t, acct, ks)
		for _, rule := range rapid.SliceOfN(rapid.SampledFrom([]storagetest.Rule{
			storagetest.On("Table.Query").ShortPage(7).Probability(0.5),
			storagetest.On("Table.Query").BoundaryPage(),
			storagetest.On("Table.Query").EmptyPage().Probability(0.3),
		}), 0, 2).Draw(rt, "faults") {
			acct.Fault(rule)
		}
		open := func() *patterns.Table[mark] { return harness.NewTable[mark](t, client, nil) }
		opts := &patterns.QueryOptions{
			PageSize: rapid.SampledFrom([]int{10, 3, 100, 0}).Draw(rt, "page size"),
			Parallel: rapid.SampledFrom([]int{8, 1, 3}).Draw(rt, "parallel"),
		}
		n := rapid.IntRange(-1, 20).Draw(rt, "segments")
		cursors := assert.Must(open().Segments(t.Context(), f, n, opts))(rt)
		if requests, most := len(acct.Log()), 4*max(n, 1)+32; requests > most || len(cursors) > max(n, 1) || len(cursors) == 0 {
			rt.Fatalf("%d segments by %d requests, want %d by %d", len(cursors), requests, n, most)
		}
		// Afterwards there are other rows.
		table := open()
		for i := range rapid.IntRange(0, 20).Draw(rt, "inserts") {
			k := keys.Key{Partition: rapid.SampledFrom([]string{"p", "q10", "Sales", "a", "zz", "customer_1", ""}).Draw(rt, "partition"), Row: fmt.Sprint(rapid.IntRange(0, 1<<30).Draw(rt, "row"), "-", i)}
			harness.Insert(t, table, mark{k.Partition, k.Row, 1})
		}
		want := map[keys.Key]int{}
		for item, err := range table.Query(t.Context(), f, &patterns.QueryOptions{Allow: query.TableScan}) {
			assert.NoError(rt, err)
			want[item.Key] = 1
		}
		got := map[keys.Key]int{}
		for _, cursor := range cursors {
			for _, k := range readSegment(t, open, f, cursor, rapid.IntRange(0, 20).Draw(rt, "pages until the kill"), opts) {
				got[k]++
			}
		}
		if !maps.Equal(got, want) {
			rt.Fatalf("%d rows, %d different, want %d", sum(got), len(got), len(want))
		}
	})
}

// The largest of 16 segments has a few times its share of the rows if the keys are spread
// evenly, in one partition or in many. No distribution takes more requests.
func TestSegmentsOfEvenKeysAreOfSimilarSize(t *testing.T) {
	t.Parallel()
	const n = 16
	even := []string{"digits in one partition", "digits as partitions", "uuids"}
	for name, keysOf := range distributions {
		acct := storagetest.Start(nil)
		ks := keysOf(rand.New(rand.NewPCG(1, 2)), 5000)
		client := fillTable(t, acct, ks)
		open := func() *patterns.Table[mark] { return harness.NewTable[mark](t, client, nil) }
		cursors := assert.Must(open().Segments(t.Context(), query.Filter{}, n, &patterns.QueryOptions{PageSize: 25}))(t)
		requests := len(acct.Log())
		most, rows, longest := 0, 0, 0
		for _, cursor := range cursors {
			size := len(readSegment(t, open, query.Filter{}, cursor, 0, nil))
			most, rows, longest = max(most, size), rows+size, max(longest, len(cursor))
		}
		share := float64(most*n) / float64(len(ks))
		t.Logf("%s: %d segments by %d requests, the largest has %.1f times its share, cursors of at most %d B", name, len(cursors), requests, share, longest)
		if rows != len(ks) || requests > 4*n+32 || longest > 300 {
			t.Errorf("%s: %d rows, %d requests, %d B", name, rows, requests, longest)
		}
		if slices.Contains(even, name) && (share > 4 || len(cursors) < n/2) {
			t.Errorf("%s: %d segments, the largest has %.1f times its share", name, len(cursors), share)
		}
	}
}

func TestATableOfOnePageIsOneSegment(t *testing.T) {
	for _, rows := range []int{0, 1, 1000} {
		acct := storagetest.New(t)
		table := harness.NewTable[mark](t, fillTable(t, acct, distributions["uuids"](rand.New(rand.NewPCG(1, 2)), rows)), nil)
		cursors := assert.Must(table.Segments(t.Context(), query.Filter{}, 8, nil))(t)
		if n := len(acct.Log()); n != 1 || len(cursors) != 1 {
			t.Errorf("%d rows: %d segments by %d requests", rows, len(cursors), n)
		}
		open := func() *patterns.Table[mark] { return table }
		assert.Equal(t, len(readSegment(t, open, query.Filter{}, cursors[0], 0, nil)), rows, "rows")
	}
}

func TestATableWithoutOrderIsOneSegment(t *testing.T) {
	acct := storagetest.New(t)
	fillTable(t, acct, distributions["digits in one partition"](nil, 300))
	open := func() *patterns.Table[mark] {
		return harness.NewTable[mark](t, onCosmos(t, acct).NewClient("Marks"), nil)
	}
	opts := &patterns.QueryOptions{PageSize: 20}
	cursors := assert.Must(open().Segments(t.Context(), query.Filter{}, 8, opts))(t)
	if n := len(acct.Log()); n != 1 || len(cursors) != 1 {
		t.Errorf("%d segments by %d requests", len(cursors), n)
	}
	assert.Equal(t, len(readSegment(t, open, query.Filter{}, cursors[0], 3, opts)), 300, "rows")
}

// Point reads and short ranges are not cut, but distributed.
func TestTheReadsOfAFilterAreDistributedOverSegments(t *testing.T) {
	acct := storagetest.New(t)
	table := harness.NewTable[mark](t, fillTable(t, acct, distributions["uuids"](rand.New(rand.NewPCG(1, 2)), 100)), nil)
	var partitions []any
	for item, err := range table.Query(t.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
		assert.NoError(t, err)
		partitions = append(partitions, item.Key.Partition)
	}
	f := query.PartitionKey.In(partitions...)
	acct.ResetLog()
	cursors := assert.Must(table.Segments(t.Context(), f, 8, nil))(t)
	if n := len(acct.Log()); n != 1 || len(cursors) != 8 {
		t.Errorf("%d segments by %d requests", len(cursors), n)
	}
	all := 0
	for _, cursor := range cursors {
		n := len(readSegment(t, func() *patterns.Table[mark] { return table }, f, cursor, 0, nil))
		if all += n; n > 25 {
			t.Errorf("a segment of %d rows", n)
		}
	}
	assert.Equal(t, all, 100, "rows, want 100")
}
