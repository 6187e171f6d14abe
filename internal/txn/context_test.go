package txn_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Whether the write was applied or not, its outcome is unknown.
func TestAContextThatEndsDuringAWriteLeavesTheOutcomeUnknown(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for what, rule := range map[string]storagetest.Rule{
			"before": storagetest.On("Table.*").Delay(time.Second),
			"after":  storagetest.On("Table.*").DelayReply(time.Second),
		} {
			table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[counter]{StampWrites: true})
			item := harness.Insert(t, table, counter{"hits", "0", 1})
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
				assert.WantError(t, err, patterns.ErrOutcomeUnknown, name, what)
				assert.WantError(t, err, context.DeadlineExceeded, name, what)
				if time.Since(start) > 10*time.Millisecond {
					t.Errorf("%s returned after %v", name, time.Since(start))
				}
			}
			_, err := table.Get(t.Context(), tally)
			b.ClearFaults()
			if err != nil && !errors.Is(err, patterns.ErrNotFound) {
				t.Error(err)
			}
		}
	})
}

// The SDK does not retry after the end of the context.
func TestAContextThatEndsBetweenTriesEndsTheCall(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		b.NamedTable(t, name)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		table := harness.NewTable[counter](t, b.AfterEachTry(t, name, func(int) { cancel() }), nil)
		b.Fault(storagetest.On("Table.Insert").Status(http.StatusServiceUnavailable, "ServerBusy"))
		_, err := table.Insert(ctx, &counter{"hits", "0", 1})
		assert.WantError(t, err, context.Canceled)
		b.WantRequestCount(t, 1)
	})
}

func TestNoGoroutineOutlivesItsCall(t *testing.T) {
	acct := storagetest.New(t)
	server := assert.Must(acct.Serve())(t)
	defer server.Close()
	for mode, accelerate := range map[string]bool{"plain": false, "accelerated": true} {
		t.Run(mode, func(t *testing.T) {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			table := harness.NewTable[counter](t, harness.Open(t, server.ConnectionString(), harness.UniqueName(), accelerate, &http.Client{Transport: transport}), nil)
			ctx := t.Context()
			assert.NoError(t, table.Create(ctx))
			transport.CloseIdleConnections()
			before := runtime.NumGoroutine()
			harness.Insert(t, table, counter{"hits", "0", 1})
			for range 20 {
				acct.Fault(storagetest.On("Table.*").Probability(0.2).LoseReply(), storagetest.On("Table.*").Probability(0.2).CutReply(30))
				short, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
				assert.MayFail(table.Update(short, tally, addOne))
				assert.MayFail(table.Batch().Upsert(&counter{"hits", "1", 1}, patterns.Merge).Upsert(&counter{"hits", "2", 1}, patterns.Merge).Commit(ctx))
				assert.MayFail(table.Bulk(short, inserts(300, "a", "b", "c"), nil))
				for _, err := range table.Query(ctx, query.PartitionKey.Eq("hits"), nil) {
					_ = err // only its end matters
					break
				}
				cancel()
				acct.ClearFaults()
			}
			transport.CloseIdleConnections()
			wantGoroutines(t, before)
		})
	}
}

// wantGoroutines checks that no more goroutines run than before.
func wantGoroutines(t testing.TB, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
