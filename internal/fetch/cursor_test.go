package fetch

import (
	"testing"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

var fromFive = query.Prop("N").Ge(int32(5))

// Callers store cursors, so their format must not change.
func TestPageCursorsHaveTheFormatOfEarlierVersions(t *testing.T) {
	r := newReading(t, 3, 20)
	for _, c := range []struct {
		what   string
		f      query.Filter
		o      types.QueryOptions
		cursor string // after the first page
		rows   int    // after it
	}{
		{"a continuation token", query.PartitionKey.Eq("p1"), types.QueryOptions{PageSize: 7},
			"AVJL1mjlAhnkSU2AM3AOlJx33xT4xrASeAAIMSE0IWNERT0IMSE0IWNqQTM", 13},
		{"the second of two reads", query.PartitionKey.In("p0", "p2"), types.QueryOptions{PageSize: 20},
			"AVJL1mjlAhnkmF-_Wu1RLTt6qjT3Do0RMwEAAA", 20},
		{"the third of three points", query.And(query.PartitionKey.Eq("p1"), query.RowKey.In("r01", "r03", "r05")), types.QueryOptions{PageSize: 2},
			"AVJL1mjlAhnkXXX5dtREyi-bmYSHQMohJQIAAA", 1},
		{"a selection", fromFive, types.QueryOptions{PageSize: 7, Allow: query.TableScan, Select: []string{"N"}},
			"AVJL1mjlAhnkNodkEYokJJRk0Iud51ItlQAIMSE0IWNEQT0IMSE0IWNqRXk", 38},
	} {
		p := r.plan(t, c.f, &c.o)
		_, cursor, err := p.Page(t.Context(), r.decoder, "")
		if err != nil || cursor != c.cursor {
			t.Errorf("%s: cursor %q, want %q; %v", c.what, cursor, c.cursor, err)
		}
		rows := 0
		for next := c.cursor; next != ""; {
			page, after, err := p.Page(t.Context(), r.decoder, next)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			rows, next = rows+page.Len(), after
		}
		if rows != c.rows {
			t.Errorf("%s: %d rows after the cursor, want %d", c.what, rows, c.rows)
		}
	}
}

func TestScansResumeFromCursorsOfEarlierVersions(t *testing.T) {
	for _, c := range []struct {
		what     string
		cursor   string // after 20 of 45 rows
		progress Progress
	}{
		{"one segment", "AVJL1mjlAhnkCrh_4gu0Ycv3WSTKkOOrdxQFAQEBAAwCcDEDcjA5CDEhNCFjREU9CDEhNCFjakV3", Progress{20, 5, 1}},
		{"two segments", "AVJL1mjlAhnkl2lgCbIKGjlxBSgMeNY16RQPAgECAA4CcDIAAnAwA3IxNAgxITQhY0RBPQgxITQhY2pFMQAPAnAyAAJwMwADcDI2AAJwMgNyMTQIMSE0IWNEST0IMSE0IWNqRTE", Progress{20, 15, 2}},
	} {
		r := newReading(t, 3, 20)
		p := r.plan(t, fromFive, &types.QueryOptions{PageSize: 5, Allow: query.TableScan})
		seen := make(map[keys.Key]bool)
		p.Scan(t.Context(), r.decoder, c.cursor, func(page ScanPage, err error) bool {
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			for _, k := range keysIn(page.Rows) {
				if seen[k] {
					t.Errorf("%s: %q twice", c.what, k)
				}
				seen[k] = true
			}
			if want := c.progress.Rows + len(seen); page.Progress.Rows != want || page.Progress.Requests <= c.progress.Requests || page.Progress.Segments < c.progress.Segments {
				t.Errorf("%s: progress %+v", c.what, page.Progress)
			}
			return true
		})
		if len(seen) != 25 {
			t.Errorf("%s: %d rows after the cursor, want 25", c.what, len(seen))
		}
	}
}

func TestScanCursorsHaveTheDocumentedFormat(t *testing.T) {
	r := newReading(t, 3, 20)
	p := r.plan(t, fromFive, &types.QueryOptions{PageSize: 5, Parallel: 1, Allow: query.TableScan})
	pages, cursor := 0, ""
	p.Scan(t.Context(), r.decoder, "", func(page ScanPage, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		pages++
		cursor = page.Cursor
		return pages < 4
	})
	if want := "AVJL1mjlAhnkABUqoyR-wvFs1IQ0OuzEJRQFAQEBABwCcDEDcjA5CDEhNCFjREU9CDEhNCFjakV3BPGO1eD8gKqXIA"; cursor != want {
		t.Errorf("cursor %q, want %q", cursor, want)
	}
}
