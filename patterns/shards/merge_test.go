package shards_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// filters are conditions of every class.
func filters() map[string]query.Filter {
	return map[string]query.Filter{
		"everything":       {},
		"nothing":          query.Or(),
		"a point":          query.And(query.PartitionKey.Eq("p003"), query.RowKey.Eq("r001")),
		"points":           query.And(query.PartitionKey.In("p001", "p004", "p999"), query.RowKey.In("r000", "r002", "x")),
		"a partition":      query.PartitionKey.Eq("p002"),
		"partitions":       query.PartitionKey.In("p000", "p005", "p002"),
		"a range":          query.PartitionKey.Range("p001", "p006"),
		"rows of a range":  query.And(query.PartitionKey.Ge("p002"), query.RowKey.Ge("r002")),
		"a property":       query.Prop("A").Ge("3"),
		"part of one":      query.And(query.PartitionKey.Eq("p001"), query.RowKey.Gt("r001")),
		"a range and more": query.Or(query.PartitionKey.Range("p001", "p003"), query.And(query.PartitionKey.Eq("p006"), query.RowKey.Eq("r003"))),
	}
}

// shortPages are accounts with short and empty pages.
func shortPages(chance *rand.Rand, n int) []shards.Account {
	list := make([]shards.Account, n)
	for i := range list {
		account := storagetest.Start(&storagetest.Options{PageRows: 1 + chance.IntN(5), PageScan: 1 + chance.IntN(6)})
		list[i] = shards.Account{Name: fmt.Sprint("account", i), Tables: account.TablesWith(harness.Accelerated())}
	}
	return list
}

// The rows of several accounts are those of a single table with the same rows, by Query, by
// Page and Scan from any cursor, with any limit, and also if partitions move between two pages.
func TestAReadOfSeveralAccountsIsThatOfOneTable(t *testing.T) {
	for seed := range uint64(12) {
		chance := rand.New(rand.NewPCG(seed, 0))
		list := shortPages(chance, 3)
		s, table := create(t, list[:2], &shards.Options{Lease: time.Millisecond})
		fill(t, table, 7, 5)
		single := harness.NewTable[doc](t, storagetest.New(t).Tables().NewClient("single"), nil)
		assert.NoError(t, single.Create(t.Context()))
		for item, err := range table.Query(t.Context(), query.Filter{}, everything) {
			assert.NoError(t, err)
			assert.Must(single.Insert(t.Context(), &item.Value))(t)
		}
		moves := []func(){
			func() { assert.NoError(t, s.Add(t.Context(), list[2], &shards.MoveOptions{Rows: 5})) },
			func() { assert.NoError(t, s.Pin(t.Context(), "p003", list[chance.IntN(2)].Name, nil)) },
			func() { assert.NoError(t, s.Pin(t.Context(), "p001", list[2].Name, nil)) },
		}
		for name, f := range filters() {
			want := keysOf(assert.All(t, single.Query(t.Context(), f, everything)))
			assert.EqualSlices(t, keysOf(assert.All(t, table.Query(t.Context(), f, everything))), want, "seed", seed, "Query of", name, "returned")
			limit := 1 + chance.IntN(8)
			limited := &patterns.QueryOptions{Allow: query.TableScan, Limit: limit}
			if got := keysOf(assert.All(t, table.Query(t.Context(), f, limited))); !slices.Equal(got, want[:min(limit, len(want))]) {
				t.Errorf("seed %d: Query of %s with limit %d returned %v", seed, name, limit, got)
			}
			assert.EqualSlices(t, read(t, chance, table, f, &moves), want, "seed", seed, "the pages of", name, "have")
		}
	}
}

// read reads all pages by Page and Scan, in turn at random. Between two pages a partition may
// move.
func read(t *testing.T, chance *rand.Rand, table *shards.Table[doc], f query.Filter, moves *[]func()) (all []keys.Key) {
	for cursor := ""; ; {
		var page patterns.Page[doc]
		opts := &patterns.QueryOptions{Allow: query.TableScan, Limit: 1 + chance.IntN(6)}
		if chance.IntN(2) == 0 {
			page = assert.Must(table.Page(t.Context(), f, cursor, opts))(t)
			if len(page.Items) > opts.Limit {
				t.Errorf("%d rows on a page of %d", len(page.Items), opts.Limit)
			}
		} else {
			pages := 1 + chance.IntN(3)
			for p, err := range table.Scan(t.Context(), f, cursor, &patterns.QueryOptions{PageSize: opts.Limit}) {
				assert.NoError(t, err)
				page.Items, page.Cursor = append(page.Items, p.Items...), p.Cursor
				if pages--; pages == 0 {
					break
				}
			}
		}
		all = append(all, keysOf(page.Items)...)
		if cursor = page.Cursor; cursor == "" {
			return all
		}
		if len(*moves) > 0 && chance.IntN(5) == 0 {
			(*moves)[0]()
			*moves = (*moves)[1:]
		}
	}
}

// Partitions move while a loop reads: rows that are there all the time are returned once.
func TestALoopReturnsEveryRowOnceWhilePartitionsMove(t *testing.T) {
	for seed := range uint64(10) {
		chance := rand.New(rand.NewPCG(seed, 1))
		list := shortPages(chance, 3)
		s, table := create(t, list[:2], &shards.Options{Lease: time.Millisecond})
		all := fill(t, table, 8, 4)
		var got []keys.Key
		at := chance.IntN(len(all))
		for item, err := range table.Query(t.Context(), query.Filter{}, everything) {
			assert.NoError(t, err)
			if got = append(got, item.Key); len(got) == at {
				assert.NoError(t, s.Add(t.Context(), list[2], nil))
			}
		}
		assert.EqualSlices(t, got, all, "seed", seed, "moved at row", at, "the loop returned")
	}
}

func TestAReadAsksOnlyTheAccountsThatItConcerns(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 3)
		_, table := create(t, list, o)
		fill(t, table, 6, 2)
		key := keys.Key{Partition: "p001", Row: "r001"}
		b.ResetRequests()
		item := assert.Must(table.Get(t.Context(), key))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1})
		assert.All(t, table.Query(t.Context(), query.PartitionKey.Eq("p001"), nil))
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		assert.All(t, table.Query(t.Context(), query.Filter{}, everything))
		b.WantRequests(t, map[string]int{"Table.Query": 3})
		item = assert.Must(table.Replace(t.Context(), item))(t)
		b.WantRequests(t, map[string]int{"Table.Replace": 1})
		item = assert.Must(table.Merge(t.Context(), item))(t)
		b.WantRequests(t, map[string]int{"Table.Merge": 1})
		assert.NoError(t, table.Delete(t.Context(), key, item.ETag))
		b.WantRequests(t, map[string]int{"Table.Delete": 1})
	})
}

func TestACursorIsValidForItsReadOnly(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 2)
		_, table := create(t, list, o)
		fill(t, table, 4, 2)
		opts := &patterns.QueryOptions{Allow: query.TableScan, Limit: 1}
		page := assert.Must(table.Page(t.Context(), query.Filter{}, "", opts))(t)
		for _, c := range []struct {
			f      query.Filter
			cursor string
			sel    []string
		}{
			{query.PartitionKey.Ge("p"), page.Cursor, nil}, {query.Filter{}, page.Cursor + "A", nil}, {query.Filter{}, "x", nil}, {query.Filter{}, page.Cursor, []string{"A"}},
		} {
			_, err := table.Page(t.Context(), c.f, c.cursor, &patterns.QueryOptions{Allow: query.TableScan, Select: c.sel})
			assert.WantError(t, err, patterns.ErrBadCursor)
		}
		_, err := table.Page(t.Context(), query.Filter{}, "", nil)
		assert.WantError(t, err, query.ErrScan)
	})
}

func TestParallelLimitsTheRequestsToAllAccounts(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		list, o := onBackend(t, b, 3)
		_, table := create(t, list, o)
		fill(t, table, 9, 1)
		b.Fault(storagetest.On("Table.Query").DelayReply(time.Second))
		for parallel, want := range map[int]time.Duration{0: 1, 1: 3, 2: 2, 3: 1} {
			began := time.Now()
			rows := assert.All(t, table.Query(t.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan, Parallel: parallel}))
			assert.Equal(t, len(rows), 9)
			assert.Equal(t, time.Since(began).Truncate(time.Second), want*time.Second, parallel, "concurrent requests take")
		}
		b.ClearFaults()
		b.ResetRequests()
		for _, err := range table.Scan(t.Context(), query.Filter{}, "", &patterns.QueryOptions{Limit: 2}) {
			assert.WantError(t, err, patterns.ErrBadOption)
		}
		b.WantRequests(t, nil)
	})
}
