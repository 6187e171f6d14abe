package logtail_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logtail"
)

func TestPagesContinueInAnotherProcessDuringAppends(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, buckets := range []int{1, 3} {
			client := b.Table(t)
			opts := &logtail.Options[claim]{Buckets: buckets}
			log := newLog(t, client, opts)
			var want []string
			for i := range 23 {
				appended(t, log, "s", claim{What: fmt.Sprint(i)})
				want = slices.Insert(want, 0, fmt.Sprint(i))
			}
			var got []logtail.Entry[claim]
			pages := 0
			for cursor := ""; pages == 0 || cursor != ""; pages++ {
				fresh := newLog(t, client, opts) // knows only the cursor
				page := assert.Must(fresh.Page(t.Context(), "s", time.Time{}, time.Time{}, cursor, &patterns.QueryOptions{Limit: 5}))(t)
				got = append(got, page.Entries...)
				cursor = page.Cursor
				assert.Equal(t, cursor, url.QueryEscape(cursor), "cursor", "changes in a URL")
				appended(t, log, "s", claim{What: "later"})
			}
			wantOrder(t, got, want...)
			assert.Equal(t, pages, 5, "pages, want 5")
		}
	})
}

func TestPageMakesNoUnnecessaryRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, buckets := range []int{1, 4} {
			log := newLog(t, b.Table(t), &logtail.Options[claim]{Time: claimTime, Buckets: buckets})
			for i := range 12 {
				bucket := i % buckets
				if buckets == 1 {
					bucket = -1
				}
				store(t, log, bucket, "s", day(1).Add(time.Duration(i)*time.Second), fmt.Sprint(i))
			}
			b.ResetRequests()
			page := assert.Must(log.Page(t.Context(), "s", day(1), day(2), "", &patterns.QueryOptions{Limit: 5}))(t)
			wantOrder(t, page.Entries, "11", "10", "9", "8", "7")
			b.WantRequests(t, map[string]int{"Table.Query": buckets})
			page = assert.Must(log.Page(t.Context(), "s", day(1), day(2), page.Cursor, nil))(t)
			wantOrder(t, page.Entries, "6", "5", "4", "3", "2", "1", "0")
			assert.Equal(t, page.Cursor, "", "a cursor after the last entry")
			b.WantRequests(t, map[string]int{"Table.Query": buckets})
		}
	})
}

func TestAnEmptyStreamIsOneEmptyPage(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		page, err := newLog(t, b.Table(t), nil).Page(t.Context(), "s", day(1), day(2), "", &patterns.QueryOptions{Limit: 5})
		if err != nil || len(page.Entries) != 0 || page.Cursor != "" {
			t.Errorf("%d entries, cursor %q, %v", len(page.Entries), page.Cursor, err)
		}
	})
}

func TestACursorOfAnotherReadIsRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		log := newLog(t, client, nil)
		for range 3 {
			appended(t, log, "s", claim{})
		}
		from, to := time.Time{}, time.Time{}
		page, err := log.Page(t.Context(), "s", from, to, "", &patterns.QueryOptions{Limit: 1})
		if err != nil || page.Cursor == "" {
			t.Fatalf("cursor %q, %v", page.Cursor, err)
		}
		damaged := []byte(page.Cursor)
		damaged[len(damaged)/2] ^= 1
		other := b.Table(t)
		for _, c := range []struct {
			name     string
			log      *logtail.Log[claim]
			stream   string
			from, to time.Time
			cursor   string
		}{
			{"of another stream", log, "t", from, to, page.Cursor},
			{"of another beginning", log, "s", day(1), to, page.Cursor},
			{"of another end", log, "s", from, day(1), page.Cursor},
			{"of another number of buckets", newLog(t, client, &logtail.Options[claim]{Buckets: 2}), "s", from, to, page.Cursor},
			{"of another table", newLog(t, other, nil), "s", from, to, page.Cursor},
			{"damaged", log, "s", from, to, string(damaged)},
			{"cut", log, "s", from, to, page.Cursor[:20]},
			{"no cursor at all", log, "s", from, to, "?%"},
		} {
			for range 2 { // the second time the name of the table is known
				page, err := c.log.Page(t.Context(), c.stream, c.from, c.to, c.cursor, &patterns.QueryOptions{Limit: 1})
				assert.WantError(t, err, patterns.ErrBadCursor, c.name)
				assert.Equal(t, len(page.Entries), 0, c.name)
			}
		}
	})
}

func TestTheOptionsOfAPageAreThoseOfAQuery(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		log := newLog(t, b.Table(t), nil)
		for _, what := range []string{"a", "b", "c"} {
			appended(t, log, "s", claim{what, 12, day(1)})
		}
		b.ResetRequests()
		page := assert.Must(log.Page(t.Context(), "s", time.Time{}, time.Time{}, "", &patterns.QueryOptions{PageSize: 2, Select: []string{"Amount"}}))(t)
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		assert.EqualSlices(t, whats(page.Entries), []string{"", ""})
		assert.Equal(t, page.Entries[0].Value.Amount, 12)
		for _, bad := range []patterns.QueryOptions{{Limit: -1}, {PageSize: -1}, {Parallel: -1}} {
			assert.WantError(t, assert.ErrorOf(log.Page(t.Context(), "s", day(1), day(2), "", &bad)), patterns.ErrBadOption, bad)
		}
		b.WantRequests(t, nil)
	})
}
