package patterns_test

import (
	"errors"
	"iter"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestScanOnEveryBackendGoesOnFromItsCursor(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		client := b.Table(t)
		table := newTable[mark](t, client, nil)
		want := make(map[keys.Key]int)
		batch := table.Batch()
		for i, k := range distributions["digits in one partition"](nil, 90) {
			batch.Insert(&mark{k.Partition, k.Row, int32(i)})
			want[k] = 1
		}
		if _, err := batch.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"O'Brien", "a b", "é"} {
			insert(t, table, mark{p, "r", 0})
			want[keys.Key{Partition: p, Row: "r"}] = 1
		}
		got := make(map[keys.Key]int)
		for cursor, ended := "", false; !ended; {
			again := newTable[mark](t, client, nil)
			scan := func(cursor string) iter.Seq2[patterns.ScanPage[mark], error] {
				return again.Scan(t.Context(), query.Filter{}, cursor, &patterns.ScanOptions{PageSize: 10, Parallel: 3})
			}
			page, end, err := scanAll(scan, cursor, 2, func(k keys.Key) { got[k]++ })
			if err != nil {
				t.Fatal(err)
			}
			cursor, ended = page.Cursor, end
		}
		for k := range want {
			if got[k] != 1 {
				t.Errorf("%q came %d times", k, got[k])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d rows, want %d", len(got), len(want))
		}
	})
}

func TestScanThatFailsGoesOnWhereItWas(t *testing.T) {
	ks := distributions["uuids"](rand.New(rand.NewPCG(1, 2)), 3000)
	acct := storagetest.New(t)
	table := newTable[mark](t, filled(t, acct, ks), nil)
	acct.Fault(storagetest.On("Table.Query").Nth(20).Times(20).Status(http.StatusForbidden, "AuthenticationFailed"))
	scan := func(cursor string) iter.Seq2[patterns.ScanPage[mark], error] {
		return table.Scan(t.Context(), query.Filter{}, cursor, &patterns.ScanOptions{PageSize: 100})
	}
	got := make(map[keys.Key]int)
	add := func(k keys.Key) { got[k]++ }
	page, _, err := scanAll(scan, "", 0, add)
	var refused *patterns.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusForbidden || page.Cursor == "" {
		t.Fatalf("got %v, cursor %q", err, page.Cursor)
	}
	acct.ClearFaults()
	if _, _, err = scanAll(scan, page.Cursor, 0, add); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(ks) || sum(got) != len(ks) {
		t.Errorf("%d rows, %d different, want %d", sum(got), len(got), len(ks))
	}
}

func TestScanRefusesACursorThatIsNotItsOwn(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table, other := people(t, b), people(t, b)
		for _, n := range []string{"a", "b", "c"} {
			insert(t, table, somebody(n))
			insert(t, other, somebody(n))
		}
		f := partitionIs("sales")
		var cursor string
		for page, err := range table.Scan(t.Context(), f, "", &patterns.ScanOptions{PageSize: 1}) {
			if err != nil {
				t.Fatal(err)
			}
			cursor = page.Cursor
			break
		}
		paged, err := table.Page(t.Context(), f, "", &patterns.QueryOptions{PageSize: 1})
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, scan iter.Seq2[patterns.ScanPage[person], error]) {
			t.Helper()
			n := 0
			for page, err := range scan {
				n++
				if !errors.Is(err, patterns.ErrBadCursor) || len(page.Items) > 0 {
					t.Errorf("%s: got %d items, %v", what, len(page.Items), err)
				}
			}
			if n != 1 {
				t.Errorf("%s: %d pairs", what, n)
			}
		}
		refused("another filter", table.Scan(t.Context(), query.Filter{}, cursor, nil))
		refused("another selection", table.Scan(t.Context(), f, cursor, &patterns.ScanOptions{Select: []string{"Age"}}))
		refused("a page's", table.Scan(t.Context(), f, paged.Cursor, nil))
		refused("another table", other.Scan(t.Context(), f, cursor, nil))
		refused("another table, not seen before", newTable[person](t, other.Client(), nil).Scan(t.Context(), f, cursor, nil))
		if _, err := table.Page(t.Context(), f, cursor, nil); !errors.Is(err, patterns.ErrBadCursor) {
			t.Errorf("Page takes a scan's cursor: %v", err)
		}
		for i := range cursor {
			bad := []byte(cursor)
			bad[i] ^= 1
			refused("damaged", table.Scan(t.Context(), f, string(bad), nil))
		}
	})
}

// Results of Cosmos DB have no order, so that a key seen tells nothing of others.
func TestScanDoesNotCutOnCosmos(t *testing.T) {
	acct := storagetest.New(t)
	ks := distributions["uuids"](rand.New(rand.NewPCG(1, 2)), 1000)
	filled(t, acct, ks)
	table := newTable[mark](t, onCosmos(t, acct).NewClient("Marks"), nil)
	got := make(map[keys.Key]int)
	for page, err := range table.Scan(t.Context(), query.Filter{}, "", &patterns.ScanOptions{PageSize: 50}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			got[item.Key]++
		}
	}
	if len(got) != len(ks) || sum(got) != len(ks) {
		t.Errorf("%d rows, want %d", sum(got), len(ks))
	}
	if n := acct.Log().Count("Table.Query"); n != 20 && n != 21 {
		t.Errorf("%d requests for 20 pages", n)
	}
}

func TestScanOfAReaderFetchesItsPropertiesOnly(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := people(t, b)
		insert(t, table, somebody("ann"))
		reader, err := patterns.Project[badge](table)
		if err != nil {
			t.Fatal(err)
		}
		for page, err := range reader.Scan(t.Context(), query.Prop("Age").Eq(int32(42)), "", nil) {
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) != 1 || page.Items[0].Value.Badge != 1<<60 || !page.Items[0].Projected() {
				t.Errorf("got %+v", page.Items)
			}
		}
	})
}
