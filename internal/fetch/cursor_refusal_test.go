package fetch_test

import (
	"encoding/base64"
	"iter"
	"net/url"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// wantRefused checks that the cursor is refused and returns no rows.
func wantRefused(t testing.TB, what string, table *patterns.Table[harness.Person], f query.Filter, cursor string, opts *patterns.QueryOptions) {
	t.Helper()
	page, err := table.Page(t.Context(), f, cursor, opts)
	if assert.WantError(t, err, patterns.ErrBadCursor); len(page.Items) != 0 || page.Cursor != "" {
		t.Errorf("%s: %d rows, cursor %q", what, len(page.Items), page.Cursor)
	}
	if assert.WantHidden(t, err, "sales", "ann"); len(cursor) > 20 { // shorter ones may be words of the message
		assert.WantHidden(t, err, cursor)
	}
}

func TestACursorOfAnotherQueryIsRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := harness.NewTable[harness.Person](t, client, nil)
		other := harness.People(t, b)
		for _, n := range []string{"ann", "bob", "O'Brien", "é"} {
			harness.Insert(t, table, harness.NewPerson(n))
			harness.Insert(t, other, harness.NewPerson(n))
		}
		f, one := query.PartitionKey.Eq("sales"), &patterns.QueryOptions{PageSize: 1}
		page, err := table.Page(t.Context(), f, "", one)
		if err != nil || page.Cursor == "" {
			t.Fatal(page, err)
		}
		cursor := page.Cursor
		assert.Equal(t, url.QueryEscape(cursor), cursor, "the cursor", "is not safe in a URL")

		b.ResetRequests()
		for i := range cursor {
			for _, c := range []byte{cursor[i] ^ 1, cursor[i] ^ 0x20, '=', '%', 0} {
				if c != cursor[i] {
					wantRefused(t, "damaged", table, f, cursor[:i]+string(c)+cursor[i+1:], one)
				}
			}
			if i > 0 {
				wantRefused(t, "truncated", table, f, cursor[:i], one)
			}
		}
		raw := assert.Must(base64.RawURLEncoding.DecodeString(cursor))(t)
		for i := range raw {
			bad := append([]byte(nil), raw...)
			bad[i] ^= 0xFF
			wantRefused(t, "damaged", table, f, base64.RawURLEncoding.EncodeToString(bad), one)
		}
		raw[0]++
		wantRefused(t, "another version", table, f, base64.RawURLEncoding.EncodeToString(raw), one)
		wantRefused(t, "longer", table, f, cursor+cursor, one)
		wantRefused(t, "padded", table, f, cursor+"==", one)
		wantRefused(t, "garbage", table, f, "hello", one)
		wantRefused(t, "long garbage", table, f, strings.Repeat("A", 1000), one)
		wantRefused(t, "another filter", table, query.PartitionKey.Eq("marketing"), cursor, one)
		wantRefused(t, "a wider filter", table, query.PartitionKey.Range("a", "z"), cursor, one)
		wantRefused(t, "another selection", table, f, cursor, &patterns.QueryOptions{Select: []string{"Age"}})
		wantRefused(t, "no selection but keys", table, f, cursor, &patterns.QueryOptions{Select: []string{}})
		wantRefused(t, "another table", other, f, cursor, one)
		b.WantRequestCount(t, 0)
		wantRefused(t, "another table, not seen before", harness.NewTable[harness.Person](t, other.Client(), nil), f, cursor, one)
		b.WantRequestCount(t, 1) // whose response contains the address

		again, err := harness.NewTable[harness.Person](t, client, nil).Page(t.Context(), f, cursor, &patterns.QueryOptions{PageSize: 2, Parallel: 1})
		if err != nil || len(again.Items) != 2 || again.Items[0].Key.Row != "ann" {
			t.Errorf("the cursor itself returns %d rows, %v", len(again.Items), err)
		}
	})
}

func TestACursorIsValidAfterItsRowIsDeleted(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		for _, n := range []string{"a", "b", "c", "d"} {
			harness.Insert(t, table, harness.NewPerson(n))
		}
		page, err := table.Page(t.Context(), query.PartitionKey.Eq("sales"), "", &patterns.QueryOptions{PageSize: 2})
		assert.NoError(t, err)
		for _, n := range []string{"b", "c"} { // before and after the cursor
			assert.NoError(t, table.Delete(t.Context(), harness.NewPerson(n).Key(), ""))
		}
		page, err = table.Page(t.Context(), query.PartitionKey.Eq("sales"), page.Cursor, nil)
		if err != nil || len(page.Items) != 1 || page.Items[0].Key.Row != "d" {
			t.Errorf("got %+v, %v", page.Items, err)
		}
	})
}

func TestScanRefusesACursorOfAnotherScan(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table, other := harness.People(t, b), harness.People(t, b)
		for _, n := range []string{"a", "b", "c"} {
			harness.Insert(t, table, harness.NewPerson(n))
			harness.Insert(t, other, harness.NewPerson(n))
		}
		f := query.PartitionKey.Eq("sales")
		var cursor string
		for page, err := range table.Scan(t.Context(), f, "", &patterns.QueryOptions{PageSize: 1}) {
			assert.NoError(t, err)
			cursor = page.Cursor
			break
		}
		paged := assert.Must(table.Page(t.Context(), f, "", &patterns.QueryOptions{PageSize: 1}))(t)
		refused := func(what string, scan iter.Seq2[patterns.ScanPage[harness.Person], error]) {
			t.Helper()
			n := 0
			for page, err := range scan {
				n++
				assert.WantError(t, err, patterns.ErrBadCursor, what)
				assert.Equal(t, len(page.Items), 0, what)
			}
			assert.Equal(t, n, 1, what, "pairs")
		}
		refused("another filter", table.Scan(t.Context(), query.Filter{}, cursor, nil))
		refused("another selection", table.Scan(t.Context(), f, cursor, &patterns.QueryOptions{Select: []string{"Age"}}))
		refused("a page's", table.Scan(t.Context(), f, paged.Cursor, nil))
		refused("another table", other.Scan(t.Context(), f, cursor, nil))
		refused("another table, not seen before", harness.NewTable[harness.Person](t, other.Client(), nil).Scan(t.Context(), f, cursor, nil))
		assert.WantError(t, assert.ErrorOf(table.Page(t.Context(), f, cursor, nil)), patterns.ErrBadCursor, "Page takes a scan's cursor")
		for i := range cursor {
			bad := []byte(cursor)
			bad[i] ^= 1
			refused("damaged", table.Scan(t.Context(), f, string(bad), nil))
		}
	})
}

// FuzzCursor checks that no text except "" and the returned cursors returns rows.
func FuzzCursor(f *testing.F) {
	acct := storagetest.Start(nil)
	client := acct.Tables().NewClient("People")
	table := harness.NewTable[harness.Person](f, client, nil)
	assert.NoError(f, table.Create(f.Context()))
	for _, n := range []string{"a", "b", "c"} {
		harness.Insert(f, table, harness.NewPerson(n))
	}
	all := query.PartitionKey.Eq("sales")
	own := map[string]bool{"": true}
	for cursor, more := "", true; more; more = cursor != "" {
		page := assert.Must(table.Page(f.Context(), all, cursor, &patterns.QueryOptions{PageSize: 1}))(f)
		cursor = page.Cursor
		own[cursor] = true
		f.Add(cursor)
	}
	for page, err := range table.Scan(f.Context(), all, "", &patterns.QueryOptions{PageSize: 1}) {
		assert.NoError(f, err)
		f.Add(page.Cursor)
	}
	f.Add("AQ")
	f.Add("%")
	f.Fuzz(func(t *testing.T, cursor string) {
		if own[cursor] {
			return
		}
		acct.ResetLog()
		wantRefused(t, "made up", table, all, cursor, nil)
		for page, err := range table.Scan(t.Context(), query.Prop("Age").Ge(int32(1)), cursor, nil) {
			if assert.WantError(t, err, patterns.ErrBadCursor); len(page.Items) > 0 {
				t.Error("rows for a cursor of another scan")
			}
		}
		assert.Equal(t, len(acct.Log()), 0, "requests")
	})
}
