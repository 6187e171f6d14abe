package txn_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

func TestBulkAppliesTheOperationsThatDoNotFail(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		harness.Insert(t, table, counter{"p", "000050", -1})
		harness.Insert(t, table, counter{"p", "000077", -1})
		b.ResetRequests()
		quote := counter{"p", "it's", 1}
		bad := counter{"p", "SECRET/", 1}
		ops := func(yield func(patterns.Op[counter]) bool) {
			for op := range inserts(100, "p") {
				yield(op)
			}
			yield(patterns.InsertOp(&bad))                                // 100: never sent
			yield(patterns.UpsertOp(&quote, patterns.Replace))            // 101: aztables cannot address it in a transaction
			yield(patterns.DeleteOp[counter](keys.Key{Row: "no"}, ""))    // 102: nor this anywhere, and the row does not exist
			yield(patterns.InsertOp(&counter{"p", "last", 1}))            // 103
			yield(patterns.ReplaceOp(patterns.Item[counter]{Key: tally})) // 104: no ETag
			yield(patterns.InsertOp[counter](nil))                        // 105
		}
		report, err := table.Bulk(t.Context(), ops, nil)
		want := map[int]error{50: patterns.ErrExists, 77: patterns.ErrExists, 100: patterns.ErrBadKey, 104: patterns.ErrBadETag, 105: patterns.ErrNil}
		requests := 3 + 2 // two with a failing row, the rest; the last rows; the missing row
		if b.Accelerated {
			want[102] = patterns.ErrNotFound
		} else {
			want[102] = patterns.ErrNeedsAccelerate
		}
		if err == nil || report.Found != 106 || report.Failed != len(want) || report.Done != 106-len(want) || report.Requests != requests {
			t.Errorf("%+v, %v", report, err)
		}
		b.WantRequestCount(t, requests)
		for _, f := range report.Failures {
			if !errors.Is(f.Err, want[f.Index]) || want[f.Index] == nil {
				t.Errorf("operation %d: %v, want %v", f.Index, f.Err, want[f.Index])
			}
			delete(want, f.Index)
			assert.WantHidden(t, f.Err, "SECRET")
		}
		assert.Equal(t, len(want), 0, "not reported", want)
		assert.WantHidden(t, err, "SECRET")
		if got := rowsOf(t, table)["p"]; got != 102 { // including the two rows from before
			t.Errorf("%d rows, want 102", got)
		}
	})
}

func TestBulkSendsOneRequestToAMissingTable(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Service(t).NewClient(harness.UniqueName()), nil)
		report, err := table.Bulk(t.Context(), inserts(100, "p"), nil)
		assert.WantError(t, err, patterns.ErrTableNotFound)
		assert.Equal(t, report.Failed, 100)
		assert.Equal(t, report.Requests, 1)
		b.WantRequestCount(t, 1)
	})
}

// aztables encodes texts in more bytes than the library can predict.
func TestBulkDividesTransactionsThatTheServiceFindsTooLarge(t *testing.T) {
	t.Parallel()
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		const n = 90
		var ops []patterns.Op[harness.Person]
		for i := range n {
			v := harness.NewPerson(fmt.Sprint(i))
			v.Note = strings.Repeat("<", 30_000)
			ops = append(ops, patterns.InsertOp(&v))
		}
		report, err := table.Bulk(t.Context(), slices.Values(ops), nil)
		assert.NoError(t, err)
		assert.Equal(t, report.Done, n)
		b.WantRequestCount(t, report.Requests)
		assert.Equal(t, harness.Get(t, table, harness.NewPerson("89").Key()).Value.Note, strings.Repeat("<", 30_000), "the text has changed")
	})
}

func TestBulkReportsUnsentOperationsIfItsContextEnds(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ops := func(yield func(patterns.Op[counter]) bool) {
			for op := range inserts(100_000, "p0", "p1", "p2") {
				if !yield(op) {
					return
				}
			}
			t.Error("Bulk read the whole input")
		}
		report, err := table.Bulk(ctx, ops, &patterns.BulkOptions{Parallel: 2, Progress: func(p patterns.Progress) {
			if p.Requests == 5 {
				cancel()
			}
		}})
		assert.WantError(t, err, context.Canceled)
		assert.Equal(t, report.Done+report.Failed, report.Found)
		assert.Equal(t, report.Failed, len(report.Failures))
		unknown := 0
		for _, f := range report.Failures {
			if errors.Is(f.Err, patterns.ErrOutcomeUnknown) {
				unknown++
			}
		}
		there := 0
		for _, n := range rowsOf(t, table) {
			there += n
		}
		if there < report.Done || there > report.Done+unknown {
			t.Errorf("%d applied and %d unknown are reported, %d rows are stored", report.Done, unknown, there)
		}
		report, err = table.Bulk(ctx, inserts(10, "p"), nil)
		assert.WantError(t, err, context.Canceled)
		assert.Equal(t, report.Found, 0)
		assert.Equal(t, report.Requests, 0)
		b.ResetRequests()
		table.Bulk(ctx, inserts(0, "p"), nil)
		b.WantRequestCount(t, 0)
	})
}

func TestBulkReportsCorrectlyUnderRandomFaults(t *testing.T) { // not parallel, as it counts goroutines
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		before := runtime.NumGoroutine()
		for _, stamped := range []bool{false, true} {
			table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[counter]{StampWrites: stamped})
			b.ClearFaults()
			b.Fault(storagetest.On("Table.Batch").Probability(0.2).LoseReply(), storagetest.On("Table.Batch").Probability(0.2).LoseRequest(),
				storagetest.On("Table.Batch").Probability(0.3).Status(http.StatusServiceUnavailable, "ServerBusy"))
			var running, most atomic.Int64
			report, err := table.Bulk(t.Context(), inserts(5000, "a", "b", "c", "d", "e", "f"), &patterns.BulkOptions{Parallel: 4, Progress: func(patterns.Progress) {
				most.Store(max(most.Load(), running.Add(1)))
				runtime.Gosched()
				running.Add(-1)
			}})
			b.ClearFaults()
			failed := make(map[int]error)
			for _, f := range report.Failures {
				failed[f.Index] = f.Err
			}
			assert.Equal(assert.Now(t), err == nil, len(failed) == 0)
			assert.Equal(t, most.Load(), 1)
			there := make(map[int64]bool)
			for item, err := range table.Query(t.Context(), query.Filter{}, &patterns.QueryOptions{Allow: query.TableScan}) {
				assert.NoError(t, err)
				there[item.Value.N] = true
			}
			for i := range 5000 {
				err, bad := failed[i]
				switch {
				case !bad && !there[int64(i)]:
					t.Fatalf("operation %d counts as applied and is not stored", i)
				case bad && there[int64(i)] && !errors.Is(err, patterns.ErrOutcomeUnknown):
					t.Fatalf("operation %d is stored: %v", i, err)
				}
			}
		}
		wantGoroutines(t, before)
	})
}

func TestBulkWaitsForItsRequestsIfTheInputPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct, name := harness.NewAccount(t)
		table := harness.NewTable[counter](t, acct.Tables().NewClient(name), nil)
		acct.Fault(storagetest.On("Table.Batch").DelayReply(time.Second))
		start := time.Now()
		func() {
			defer func() {
				if p := recover(); p != "no more" {
					t.Errorf("the panic became %v", p)
				}
			}()
			_, _ = table.Bulk(t.Context(), func(yield func(patterns.Op[counter]) bool) {
				for op := range inserts(patterns.MaxBatchOps, "p") {
					yield(op)
				}
				panic("no more")
			}, nil)
		}()
		if time.Since(start) < time.Second {
			t.Error("Bulk returned during its transaction")
		}
		assert.Equal(t, rowsOf(t, table)["p"], patterns.MaxBatchOps, "rows")
	})
}
