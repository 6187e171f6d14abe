package fetch_test

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestScanResumesFromItsCursor(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := harness.NewTable[mark](t, client, nil)
		want := make(map[keys.Key]int)
		batch := table.Batch()
		for i, k := range distributions["digits in one partition"](nil, 90) {
			batch.Insert(&mark{k.Partition, k.Row, int32(i)})
			want[k] = 1
		}
		assert.NoError(t, assert.ErrorOf(batch.Commit(t.Context())))
		for _, p := range []string{"O'Brien", "a b", "é"} {
			harness.Insert(t, table, mark{p, "r", 0})
			want[keys.Key{Partition: p, Row: "r"}] = 1
		}
		got := make(map[keys.Key]int)
		for cursor, ended := "", false; !ended; {
			again := harness.NewTable[mark](t, client, nil)
			scan := func(cursor string) iter.Seq2[patterns.ScanPage[mark], error] {
				return again.Scan(t.Context(), query.Filter{}, cursor, &patterns.QueryOptions{PageSize: 10, Parallel: 3})
			}
			page, end, err := scanAll(scan, cursor, 2, func(k keys.Key) { got[k]++ })
			assert.NoError(t, err)
			cursor, ended = page.Cursor, end
		}
		for k := range want {
			assert.Equal(t, got[k], 1, k, "returned", "times")
		}
		assert.Equal(t, len(got), len(want), "rows")
	})
}

func TestAScanThatFailedResumes(t *testing.T) {
	ks := distributions["uuids"](rand.New(rand.NewPCG(1, 2)), 3000)
	acct := storagetest.New(t)
	table := harness.NewTable[mark](t, fillTable(t, acct, ks), nil)
	acct.Fault(storagetest.On("Table.Query").Nth(20).Times(20).Status(http.StatusForbidden, "AuthenticationFailed"))
	scan := func(cursor string) iter.Seq2[patterns.ScanPage[mark], error] {
		return table.Scan(t.Context(), query.Filter{}, cursor, &patterns.QueryOptions{PageSize: 100})
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
	assert.Equal(assert.Now(t), len(got), len(ks))
	assert.Equal(t, sum(got), len(ks))
}

func TestAScanResumedAfterEmptyPagesReturnsTheRowWithEmptyKeysOnce(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[mark](t, b.Table(t), nil)
		all := []mark{{"", "", 1}}
		for i := range 30 {
			all = append(all, mark{fmt.Sprintf("p%02d", i), "r", int32(i)})
		}
		for _, m := range all {
			harness.Insert(t, table, m)
		}
		b.Fault(emptyPages)
		for _, parallel := range []int{1, 2, 3, 8} {
			for _, length := range []int{1, 2, 3, 4, 5, 1000} {
				got := make(map[keys.Key]int)
				for cursor, runs := "", 0; cursor != "" || runs == 0; runs++ {
					if runs > 500 {
						t.Fatal("the scan does not end")
					}
					next, n := "", 0
					for page, err := range table.Scan(t.Context(), query.Filter{}, cursor, &patterns.QueryOptions{PageSize: 1, Parallel: parallel}) {
						assert.NoError(t, err)
						for _, item := range page.Items {
							got[item.Key]++
						}
						if next, n = page.Cursor, n+1; runs == 0 || n == length {
							break // the first run returns only the row with two empty keys
						}
					}
					cursor = next
				}
				for _, m := range all {
					if k := (keys.Key{Partition: m.PartitionKey, Row: m.RowKey}); got[k] != 1 {
						t.Errorf("%d concurrent requests: %q returned %d times", parallel, k, got[k])
					}
				}
			}
		}
	})
}
