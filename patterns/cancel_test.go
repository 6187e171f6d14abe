package patterns_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A context that ends while a write is under way leaves its outcome open, and the
// answer says so, whether the write was carried out or not.
func TestAContextThatEndsUnderWayLeavesTheOutcomeUnknown(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		synctest.Test(t, func(t *testing.T) {
			for what, rule := range map[string]fault.Rule{
				"before": fault.On("Table.*").Delay(time.Second),
				"after":  fault.On("Table.*").DelayReply(time.Second),
			} {
				table := newTable(t, b.Table(t), &patterns.TableOptions[counter]{StampWrites: true})
				item := insert(t, table, counter{"hits", "0", 1})
				for name, write := range map[string]func(context.Context) error{
					"insert": func(ctx context.Context) error {
						_, err := table.Insert(ctx, &counter{"hits", "1", 1})
						return err
					},
					"replace": func(ctx context.Context) error { _, err := table.Replace(ctx, item); return err },
					"batch": func(ctx context.Context) error {
						_, err := table.Batch().Upsert(&counter{"hits", "2", 1}, patterns.Merge).Commit(ctx)
						return err
					},
					"delete": func(ctx context.Context) error { return table.Delete(ctx, tally, item.ETag) },
				} {
					b.ClearFaults()
					b.Fault(rule)
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					start := time.Now()
					err := write(ctx)
					cancel()
					if !errors.Is(err, patterns.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%s, delayed %s it is carried out: %v", name, what, err)
					}
					if time.Since(start) > 10*time.Millisecond {
						t.Errorf("%s came back after %v", name, time.Since(start))
					}
				}
				_, err := table.Get(t.Context(), tally)
				b.ClearFaults()
				if err != nil && !errors.Is(err, patterns.ErrNotFound) {
					t.Error(err)
				}
			}
		})
	})
}

// Retries that end with the context end with it at once.
func TestAContextThatEndsBetweenTriesEndsTheCall(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		name := testbed.UniqueName()
		b.NamedTable(t, name)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		table := newTable[counter](t, b.Between(t, name, func(int) { cancel() }), nil)
		b.Fault(fault.On("Table.Insert").Status(http.StatusServiceUnavailable, "ServerBusy"))
		_, err := table.Insert(ctx, &counter{"hits", "0", 1})
		wantError(t, err, context.Canceled)
		cost(t, b, 1)
	})
}

func TestNoGoroutineIsLeftBehind(t *testing.T) {
	acct := storagetest.New(t)
	server, err := acct.Serve()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for mode, accelerate := range map[string]bool{"plain": false, "accelerated": true} {
		t.Run(mode, func(t *testing.T) {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			table := newTable[counter](t, open(t, server.ConnectionString(), testbed.UniqueName(), accelerate, &http.Client{Transport: transport}), nil)
			ctx := t.Context()
			if err := table.Create(ctx); err != nil {
				t.Fatal(err)
			}
			transport.CloseIdleConnections()
			before := runtime.NumGoroutine()
			insert(t, table, counter{"hits", "0", 1})
			for range 20 {
				acct.Fault(storagetest.On("Table.*").Probability(0.2).LoseReply(), storagetest.On("Table.*").Probability(0.2).CutReply(30))
				short, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
				try(table.Update(short, tally, addOne))
				try(table.Batch().Upsert(&counter{"hits", "1", 1}, patterns.Merge).Upsert(&counter{"hits", "2", 1}, patterns.Merge).Commit(ctx))
				try(table.Bulk(short, inserts(300, "a", "b", "c"), nil))
				for _, err := range table.Query(ctx, partitionIs("hits"), nil) {
					_ = err // that it ends is what counts
					break
				}
				cancel()
				acct.ClearFaults()
			}
			transport.CloseIdleConnections()
			leaked(t, before)
		})
	}
}
