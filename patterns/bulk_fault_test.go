package patterns_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestBulkReportsWhatItDidNotSendWhenItsContextEnds(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := newTable[counter](t, b.Table(t), nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ops := func(yield func(patterns.Op[counter]) bool) {
			for op := range inserts(100_000, "p0", "p1", "p2") {
				if !yield(op) {
					return
				}
			}
			t.Error("all were taken")
		}
		report, err := table.Bulk(ctx, ops, &patterns.BulkOptions{Parallel: 2, Progress: func(p patterns.BulkProgress) {
			if p.Requests == 5 {
				cancel()
			}
		}})
		wantError(t, err, context.Canceled)
		if report.Applied+report.Failed != report.Taken || report.Failed != len(report.Failures) {
			t.Errorf("%+v", report.BulkProgress)
		}
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
		if there < report.Applied || there > report.Applied+unknown {
			t.Errorf("%d applied and %d unknown are reported, %d rows are there", report.Applied, unknown, there)
		}
		report, err = table.Bulk(ctx, inserts(10, "p"), nil)
		wantError(t, err, context.Canceled)
		if report.Taken != 0 || report.Requests != 0 {
			t.Errorf("%+v", report)
		}
		b.ResetRequests()
		table.Bulk(ctx, inserts(0, "p"), nil)
		cost(t, b, 0)
	})
}

func TestBulkIsTruthfulUnderFaults(t *testing.T) { // alone: it counts goroutines
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		before := runtime.NumGoroutine()
		for _, stamped := range []bool{false, true} {
			table := newTable(t, b.Table(t), &patterns.TableOptions[counter]{StampWrites: stamped})
			b.ClearFaults()
			b.Fault(fault.On("Table.Batch").Probability(0.2).LoseReply(), fault.On("Table.Batch").Probability(0.2).LoseRequest(),
				fault.On("Table.Batch").Probability(0.3).Status(http.StatusServiceUnavailable, "ServerBusy"))
			var running, most atomic.Int64
			report, err := table.Bulk(t.Context(), inserts(5000, "a", "b", "c", "d", "e", "f"), &patterns.BulkOptions{Parallel: 4, Progress: func(patterns.BulkProgress) {
				most.Store(max(most.Load(), running.Add(1)))
				runtime.Gosched()
				running.Add(-1)
			}})
			b.ClearFaults()
			failed := make(map[int]error)
			for _, f := range report.Failures {
				failed[f.Index] = f.Err
			}
			if (err == nil) != (len(failed) == 0) || most.Load() != 1 {
				t.Errorf("%v with %d failures, %d calls of progress at once", err, len(failed), most.Load())
			}
			there := make(map[int64]bool)
			for item, err := range table.Query(t.Context(), everything, allowScan) {
				if err != nil {
					t.Fatal(err)
				}
				there[item.Value.N] = true
			}
			for i := range 5000 {
				err, bad := failed[i]
				switch {
				case !bad && !there[int64(i)]:
					t.Fatalf("operation %d counts as applied and is not there", i)
				case bad && there[int64(i)] && !errors.Is(err, patterns.ErrOutcomeUnknown):
					t.Fatalf("operation %d is there: %v", i, err)
				}
			}
		}
		leaked(t, before)
	})
}
