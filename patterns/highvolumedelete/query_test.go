package highvolumedelete_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// fill writes a login of each user on each of the days.
func fill(t testing.TB, s *highvolumedelete.Tables[login], days []int, users ...string) {
	t.Helper()
	for _, d := range days {
		for _, u := range users {
			insert(t, s, u, day(d))
		}
	}
}

func TestQueryYieldsPeriodsInOrderAndRowsInKeyOrder(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		fill(t, s, []int{5, 1, 3}, "b", "a")
		b.ResetRequests()

		var none time.Time
		got := read(t, s.Query(t.Context(), none, none, filterAll, scan(false)))
		want(t, "all", got, "a 01 00", "b 01 00", "a 03 00", "b 03 00", "a 05 00", "b 05 00")
		b.WantRequests(t, map[string]int{"Table.ListTables": 1, "Table.Query": 3})
		got = read(t, s.Query(t.Context(), none, none, filterAll, scan(true)))
		want(t, "newest first", got, "a 05 00", "b 05 00", "a 03 00", "b 03 00", "a 01 00", "b 01 00")
		b.ResetRequests()

		got = read(t, s.Query(t.Context(), day(1).Add(5*time.Hour), day(3), query.PartitionKey.Eq("a"), nil))
		want(t, "up to the third, without it", got, "a 01 00")
		b.WantRequests(t, map[string]int{"Table.ListTables": 1, "Table.Query": 1})
		got = read(t, s.Query(t.Context(), day(2), day(3).Add(1), query.PartitionKey.Eq("a"), nil))
		want(t, "the third as well", got, "a 03 00")
		b.ResetRequests()
		want(t, "one period", read(t, s.Query(t.Context(), day(3), day(4), query.PartitionKey.Eq("a"), nil)), "a 03 00")
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		want(t, "one period without a table", read(t, s.Query(t.Context(), day(4), day(5), query.PartitionKey.Eq("a"), nil)))
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		want(t, "an empty range", read(t, s.Query(t.Context(), day(5), day(5), query.PartitionKey.Eq("a"), nil)))
		want(t, "a reversed range", read(t, s.Query(t.Context(), day(9), day(1), query.PartitionKey.Eq("a"), nil)))
		noon := day(5).Add(12 * time.Hour)
		for what, to := range map[string]time.Time{"an empty range within a period": noon, "a reversed range within a period": noon.Add(-time.Hour)} {
			want(t, what, read(t, s.Query(t.Context(), noon, to, query.PartitionKey.Eq("a"), nil)))
			if tables, err := s.List(t.Context(), noon, to); len(tables) != 0 || err != nil {
				t.Errorf("%s: %v, %v", what, tables, err)
			}
		}
		b.WantRequests(t, nil)
	})
}

func TestTablesOutsideTheSetAreIgnored(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		prefix := uniquePrefix()
		days := newTables(t, b, prefix, highvolumedelete.Day, nil)
		fill(t, days, []int{2}, "a")
		for _, p := range []highvolumedelete.Period{highvolumedelete.Hour, highvolumedelete.Week, highvolumedelete.Month} {
			insert(t, newTables(t, b, prefix, p, nil), "other", day(2))
		}
		for _, stamp := range []string{"", "20140832", "2014083", "20140802x", "2014W54", "y20140802", "00000101", "00010101"} {
			b.NamedTable(t, prefix+stamp)
		}
		tables := assert.Must(days.List(t.Context(), time.Time{}, time.Time{}))(t)
		want(t, "days", names(tables, prefix), "20140802")
		r, err := days.DropBefore(t.Context(), day(30), nil)
		if err != nil || r.Found != 1 || r.Done != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		for _, p := range []highvolumedelete.Period{highvolumedelete.Hour, highvolumedelete.Week, highvolumedelete.Month} {
			assert.Equal(t, len(assert.Must(newTables(t, b, prefix, p, nil).List(t.Context(), time.Time{}, time.Time{}))(t)), 1)
		}
	})
}

func TestInvalidQueriesAreRefusedWithoutARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, "Logins", highvolumedelete.Day, nil)
		for what, c := range map[string]struct {
			f    query.Filter
			opts *highvolumedelete.QueryOptions
			want error
		}{
			"a scan":              {filterAll, nil, query.ErrScan},
			"an unknown property": {query.Prop("Unknown").Eq("x"), scan(false), nil},
			"a page too large":    {filterAll, &highvolumedelete.QueryOptions{QueryOptions: patterns.QueryOptions{Allow: query.TableScan, PageSize: 1001}}, patterns.ErrTooLarge},
		} {
			var got error
			for _, err := range s.Query(t.Context(), day(1), day(9), c.f, c.opts) {
				got = err
			}
			_, paged := s.Page(t.Context(), day(1), day(9), c.f, "", c.opts)
			if got == nil || paged == nil || c.want != nil && (!errors.Is(got, c.want) || !errors.Is(paged, c.want)) {
				t.Errorf("%s: %v, %v", what, got, paged)
			}
		}
		b.WantRequests(t, nil)
	})
}

// The model is a sorted slice. Short, empty and cut pages must make no difference.
func TestReadsMatchAModel(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		sets := 0
		rapid.Check(t, func(rt *rapid.T) {
			b.ClearFaults()
			sets++
			s := newTables(t, b, fmt.Sprintf("Logins%dx", sets), highvolumedelete.Hour, nil)
			type row struct {
				hour int
				user string
			}
			rows := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) row {
				return row{rapid.IntRange(0, 9).Draw(t, "hour"), rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "user")}
			}), 0, 25, rapid.ID).Draw(rt, "rows")
			for _, r := range rows {
				insert(t, s, r.user, day(1).Add(time.Duration(r.hour)*time.Hour))
			}
			newest := rapid.Bool().Draw(rt, "newest")
			slices.SortFunc(rows, func(x, y row) int {
				if x.hour != y.hour {
					if newest {
						return y.hour - x.hour
					}
					return x.hour - y.hour
				}
				return strings.Compare(x.user, y.user)
			})
			from := rapid.IntRange(0, 10).Draw(rt, "from")
			to := rapid.IntRange(from, 10).Draw(rt, "to")
			f := filterAll
			users := rapid.SampledFrom([]string{"abcd", "b", "ad"}).Draw(rt, "users")
			if users != "abcd" {
				var in []any
				for _, u := range users {
					in = append(in, string(u))
				}
				f = query.PartitionKey.In(in...)
			}
			var model []string
			for _, r := range rows {
				if r.hour >= from && r.hour < to && strings.Contains(users, r.user) {
					model = append(model, fmt.Sprintf("%s 01 %02d", r.user, r.hour))
				}
			}
			switch rapid.IntRange(0, 3).Draw(rt, "pages") {
			case 1:
				b.Fault(storagetest.On("Table.Query").ShortPage(1), storagetest.On("Table.ListTables").ShortPage(2))
			case 2:
				b.Fault(storagetest.On("Table.Query").EmptyPage(), storagetest.On("Table.ListTables").EmptyPage())
			case 3:
				b.Fault(storagetest.On("Table.Query").CutPage(2), storagetest.On("Table.ListTables").CutPage(3))
			}
			o := scan(newest)
			o.Parallel = rapid.IntRange(1, 4).Draw(rt, "parallel")
			low, high := day(1).Add(time.Duration(from)*time.Hour), day(1).Add(time.Duration(to)*time.Hour)
			assert.EqualSlices(assert.Now(rt), read(t, s.Query(t.Context(), low, high, f, o)), model, "query")
			n := rapid.IntRange(1, 30).Draw(rt, "limit")
			o.Limit = n
			assert.EqualSlices(assert.Now(rt), read(t, s.Query(t.Context(), low, high, f, o)), model[:min(n, len(model))], "limit", n, "want", model)
			var paged []string
			for cursor, pages := "", 0; ; pages++ {
				p, err := s.Page(t.Context(), low, high, f, cursor, o)
				if err != nil || len(p.Items) > n || pages > 200 {
					rt.Fatalf("page %d of %d rows: %v", pages, len(p.Items), err)
				}
				for _, item := range p.Items {
					paged = append(paged, label(item))
				}
				if cursor = p.Cursor; cursor == "" {
					break
				}
			}
			assert.EqualSlices(assert.Now(rt), paged, model, "pages of", n)
		})
	})
}

func TestEmptyAndShortPagesHideNoRow(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3}, "a", "b", "c")
		all := read(t, s.Query(t.Context(), day(1), day(9), filterAll, scan(true)))
		b.Fault(storagetest.On("Table.Query").EmptyPage(), storagetest.On("Table.Query").ShortPage(2), storagetest.On("Table.ListTables").EmptyPage())
		want(t, "query", read(t, s.Query(t.Context(), day(1), day(9), filterAll, scan(true))), all...)
		b.ClearFaults()
		assert.Equal(t, len(all), 9, "rows")
	})
}

func TestTablesDroppedDuringAReadAreEmpty(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		days := []int{1, 2, 3, 4}
		fill(t, s, days, "a", "b", "c")
		o := scan(true)
		o.Parallel, o.PageSize = 1, 2
		var got []string
		for item, err := range s.Query(t.Context(), day(1), day(9), filterAll, o) {
			assert.NoError(t, err)
			if len(got) == 0 { // while the fourth is read
				assert.NoError(t, assert.ErrorOf(s.DropBefore(t.Context(), day(3), nil)))
			}
			got = append(got, label(item))
		}
		want(t, "read", got, "a 04 00", "b 04 00", "c 04 00", "a 03 00", "b 03 00", "c 03 00")

		// Drop the table of a cursor.
		o.Limit = 1
		p := assert.Must(s.Page(t.Context(), day(1), day(9), filterAll, "", o))(t)
		fourth, err := s.Table(day(4))
		assert.NoError(t, err)
		assert.NoError(t, fourth.Drop(t.Context()))
		if p, err = s.Page(t.Context(), day(1), day(9), filterAll, p.Cursor, o); err != nil || len(p.Items) != 1 || label(p.Items[0]) != "a 03 00" {
			t.Errorf("%v, %v", p, err)
		}
	})
}

func TestAnErrorEndsTheSequence(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3}, "a")
		name, _ := s.Name(day(2))
		b.Fault(storagetest.On("Table.Query").Resource(name).Status(500, "InternalError"))
		defer b.ClearFaults()
		rows, failures := 0, 0
		for _, err := range s.Query(t.Context(), day(1), day(9), filterAll, scan(false)) {
			if err == nil {
				rows++
				continue
			}
			failures++
			var refused *patterns.Error
			if !errors.As(err, &refused) || refused.Status != 500 {
				t.Errorf("got %v", err)
			}
		}
		assert.Equal(t, rows, 1)
		assert.Equal(t, failures, 1)
		b.ClearFaults()
		b.Fault(storagetest.On("Table.ListTables").Status(500, "InternalError"))
		assert.Failed(t, assert.ErrorOf(s.Page(t.Context(), day(1), day(9), filterAll, "", scan(false))), "no error although the listing failed")
	})
}
