package fetch_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Each page may be read by a new Table, as in another process, and rows are inserted and
// deleted between pages. Each row that is stored throughout is returned once, in order, and no
// row twice.
func TestPagesTogetherAreTheRowsOfTheFilter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		things := someThings.Draw(rt, "things")
		acct, client := storeThings(t, rt, things)
		f := anyFilter(rt)
		fresh := rapid.Bool().Draw(rt, "a new Table each time")
		changing := rapid.Bool().Draw(rt, "changing")
		table := harness.NewTable[thing](t, client, nil)
		writer := harness.NewTable[thing](t, acct.TablesWith(harness.Accelerated()).NewClient("Things"), nil)
		opts := patterns.QueryOptions{Allow: query.TableScan}
		if rapid.Bool().Draw(rt, "projected") {
			opts.Select = []string{"B"}
		}
		touched := make(map[keys.Key]bool)
		var got []keys.Key
		for cursor, pages := "", 0; cursor != "" || pages == 0; pages++ {
			opts.PageSize = rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(rt, "page size")
			opts.Limit = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(rt, "limit")
			opts.Parallel = rapid.SampledFrom([]int{0, 1, 8}).Draw(rt, "parallel")
			if fresh {
				table = harness.NewTable[thing](t, client, nil)
			}
			page, err := table.Page(t.Context(), f, cursor, &opts)
			if errors.Is(err, patterns.ErrTooLarge) {
				return // more comparisons than the service accepts
			}
			assert.NoError(rt, err)
			if n := len(page.Items); opts.Limit > 0 && n > opts.Limit || opts.PageSize > 0 && n > opts.PageSize {
				rt.Fatalf("%d rows in a page, limit %d, page size %d", n, opts.Limit, opts.PageSize)
			}
			got = append(got, keysOf(page.Items)...)
			cursor = page.Cursor
			if changing && rapid.Bool().Draw(rt, "change") {
				v := someThing.Draw(rt, "changed")
				touched[v.Key()] = true
				if rapid.Bool().Draw(rt, "delete") {
					err = writer.Delete(t.Context(), v.Key(), "")
				} else {
					_, err = writer.Upsert(t.Context(), &v, patterns.Replace)
				}
				assert.NoError(rt, err)
			}
			if pages > 2000 {
				rt.Fatal("no end")
			}
		}
		for i := 1; i < len(got); i++ {
			if got[i-1].Compare(got[i]) >= 0 {
				rt.Fatalf("%q came after %q", got[i], got[i-1])
			}
		}
		isTouched := func(k keys.Key) bool { return touched[k] }
		got = slices.DeleteFunc(got, isTouched)
		assert.EqualSlices(assert.Now(rt), got, slices.DeleteFunc(matching(things, f), isTouched), f, "returns", "requests", acct.Log())
	})
}

func TestAPageCostsOneRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		for i := range 5 {
			harness.Insert(t, table, harness.NewPerson(fmt.Sprint(i)))
		}
		b.ResetRequests()
		f := query.PartitionKey.Eq("sales")
		var got []string
		cursor := ""
		for pages := 0; pages == 0 || cursor != ""; pages++ {
			page := assert.Must(table.Page(t.Context(), f, cursor, &patterns.QueryOptions{PageSize: 2}))(t)
			b.WantRequestCount(t, 1)
			for _, item := range page.Items {
				got = append(got, item.Key.Row)
			}
			cursor = page.Cursor
		}
		assert.EqualSlices(t, got, []string{"0", "1", "2", "3", "4"})

		points := query.And(f, query.RowKey.In("4", "1", "x", "3"))
		page := assert.Must(table.Page(t.Context(), points, "", &patterns.QueryOptions{Limit: 2}))(t)
		b.WantRequestCount(t, 2)
		if len(page.Items) != 2 || page.Items[0].Key.Row != "1" || page.Cursor == "" {
			t.Errorf("got %d items, cursor %q", len(page.Items), page.Cursor)
		}
		page = assert.Must(table.Page(t.Context(), points, page.Cursor, nil))(t)
		b.WantRequestCount(t, 2)
		if len(page.Items) != 1 || page.Items[0].Key.Row != "4" || page.Cursor != "" {
			t.Errorf("got %d items, cursor %q", len(page.Items), page.Cursor)
		}
	})
}

func TestAFilterThatMatchesNoRowSendsNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		f := query.And(query.PartitionKey.Eq("sales"), query.RowKey.In())
		assert.Equal(t, len(assert.All(t, table.Query(t.Context(), f, nil))), 0, "rows")
		if page, err := table.Page(t.Context(), f, "", nil); err != nil || len(page.Items) != 0 || page.Cursor != "" {
			t.Errorf("got %+v, %v", page, err)
		}
		for range table.Scan(t.Context(), f, "", nil) {
			t.Error("a page")
		}
		b.WantRequestCount(t, 0)
	})
}

// Azurite's continuation token for the partition key "" is empty.
func TestPagesContinueWithinTheEmptyPartitionKey(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		var want []keys.Key
		for _, c := range []counter{{"", "", 1}, {"", "a", 2}, {"", "b", 3}, {"p", "", 4}, {"p", "a", 5}} {
			harness.Insert(t, table, c)
			want = append(want, c.Key())
		}
		opts := &patterns.QueryOptions{PageSize: 1, Allow: query.TableScan}
		assert.EqualSlices(t, keysOf(assert.All(t, table.Query(t.Context(), query.Filter{}, opts))), want, "Query returns")
		var paged, scanned []keys.Key
		for cursor, pages := "", 0; cursor != "" || pages == 0; pages++ {
			page := assert.Must(table.Page(t.Context(), query.Filter{}, cursor, opts))(t)
			paged, cursor = append(paged, keysOf(page.Items)...), page.Cursor
		}
		assert.EqualSlices(t, paged, want, "pages contain")
		for page, err := range table.Scan(t.Context(), query.Filter{}, "", &patterns.QueryOptions{PageSize: 1}) {
			assert.NoError(t, err)
			scanned = append(scanned, keysOf(page.Items)...)
		}
		slices.SortFunc(scanned, keys.Key.Compare)
		assert.EqualSlices(t, scanned, want, "a scan returns")
	})
}
