package highvolumedelete_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestACursorIsValidAcrossTablesAndProcesses(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		prefix := uniquePrefix()
		s := newTables(t, b, prefix, highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3}, "a", "b", "c")
		o := scan(false)
		o.Limit = 4
		var got []string
		cursor := ""
		for _, requests := range []map[string]int{
			{"Table.ListTables": 1, "Table.Query": 2},
			{"Table.ListTables": 1, "Table.Query": 2}, // the rest of the second table, a listing, the third table
			{"Table.ListTables": 1, "Table.Query": 1},
		} {
			b.ResetRequests()
			p := assert.Must(newTables(t, b, prefix, highvolumedelete.Day, nil).Page(t.Context(), day(1), day(9), filterAll, cursor, o))(t)
			for _, item := range p.Items {
				got = append(got, label(item))
			}
			cursor = p.Cursor
			b.WantRequests(t, requests)
		}
		want(t, "pages", got, "a 01 00", "b 01 00", "c 01 00", "a 02 00", "b 02 00", "c 02 00", "a 03 00", "b 03 00", "c 03 00")
		assert.Equal(t, cursor, "", "a cursor after the last row")
	})
}

// The range moves with the clock between two pages.
func TestAPageContainsTheRowsAfterItsCursorAndInItsRange(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2, 3, 4, 5, 6}, "a", "b")
		for _, limit := range []int{3, 4} { // within the second table, and after it
			for _, c := range []struct {
				newest   bool
				from, to int
				want     string
			}{
				{false, 1, 9, "3456"}, {false, 2, 9, "3456"}, {false, 3, 9, "3456"}, {false, 5, 9, "56"}, {false, 1, 4, "3"}, {false, 1, 2, ""}, {false, 9, 9, ""}, {false, 9, 1, ""},
				{true, 1, 9, "4321"}, {true, 3, 9, "43"}, {true, 1, 6, "4321"}, {true, 1, 5, "4321"}, {true, 1, 3, "21"}, {true, 6, 9, ""}, {true, 9, 1, ""},
			} {
				o := scan(c.newest)
				o.Limit = limit
				first, err := s.Page(t.Context(), day(1), day(9), filterAll, "", o)
				assert.NoError(t, err)
				assert.Equal(assert.Now(t), len(first.Items), limit)
				second := 2
				if c.newest {
					second = 5
				}
				model := c.want
				if limit == 3 && c.from <= second && second < c.to {
					model = fmt.Sprint(second) + model
				}
				o.Limit = 100
				rest, err := s.Page(t.Context(), day(c.from), day(c.to), filterAll, first.Cursor, o)
				assert.NoError(t, err)
				assert.Equal(assert.Now(t), rest.Cursor, "")
				got := ""
				for _, item := range rest.Items {
					if d := fmt.Sprint(item.Value.At.Day()); !strings.HasSuffix(got, d) {
						got += d
					}
				}
				assert.Equal(t, got, model, c, "after", limit, "rows: days")
			}
		}
	})
}

func TestACursorOfAnotherReadIsRefused(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		prefix := uniquePrefix()
		s := newTables(t, b, prefix, highvolumedelete.Day, nil)
		fill(t, s, []int{1, 2}, "a", "b")
		o := scan(false)
		o.Limit = 1
		first, err := s.Page(t.Context(), day(1), day(9), filterAll, "", o)
		if err != nil || first.Cursor == "" {
			t.Fatal(first, err)
		}
		newest := *o
		newest.NewestFirst = true
		other := newTables(t, b, uniquePrefix(), highvolumedelete.Day, nil)
		for what, page := range map[string]func() error{
			"damaged": func() error {
				_, err := s.Page(t.Context(), day(1), day(9), filterAll, first.Cursor[1:], o)
				return err
			},
			"another filter": func() error {
				_, err := s.Page(t.Context(), day(1), day(9), query.PartitionKey.Eq("a"), first.Cursor, o)
				return err
			},
			"another direction": func() error {
				_, err := s.Page(t.Context(), day(1), day(9), filterAll, first.Cursor, &newest)
				return err
			},
			"another set": func() error {
				_, err := other.Page(t.Context(), day(1), day(9), filterAll, first.Cursor, o)
				return err
			},
		} {
			assert.WantError(t, page(), patterns.ErrBadCursor, what)
		}
		// The end of the range may change.
		assert.Equal(t, assert.ErrorOf(s.Page(t.Context(), day(1), day(10), filterAll, first.Cursor, o)), nil)
	})
	// Another account with a table of the same name.
	a, c := storagetest.New(t), storagetest.New(t)
	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	opts := &aztables.ClientOptions{}
	opts.Transport = c.Transport()
	elsewhere := assert.Must(aztables.NewServiceClientWithSharedKey("https://"+storagetest.AccountName+".table.core.windows.net", cred, opts))(t)
	o := scan(false)
	o.Limit = 1
	cursor := ""
	for i, service := range []*aztables.ServiceClient{a.Tables(), elsewhere} {
		s := assert.Must(highvolumedelete.New(service, "Logins", highvolumedelete.Day, loginOptions()))(t)
		fill(t, s, []int{1, 2}, "a")
		p, err := s.Page(t.Context(), day(1), day(9), filterAll, cursor, o)
		if i == 0 && err != nil || i == 1 && !errors.Is(err, patterns.ErrBadCursor) {
			t.Errorf("account %d: %v", i, err)
		}
		cursor = p.Cursor
	}
}
