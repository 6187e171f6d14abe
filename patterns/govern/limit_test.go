package govern_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/query"
)

// Transactions count for their operations, and pages for their rows: neither is refused more
// often than requests for one row.
func TestTransactionsAndPagesAreLimitedByTheirRows(t *testing.T) {
	const seconds, rows = 20, 100
	inWorld(t, false, func(ctx context.Context, w *world, wg *sync.WaitGroup) {
		var acts []aztables.TransactionAction
		for i := range rows {
			acts = append(acts, aztables.TransactionAction{ActionType: aztables.TransactionTypeInsertReplace,
				Entity: fmt.Appendf(nil, `{"PartitionKey":"hot","RowKey":"%03d"}`, i)})
		}
		var written, read atomic.Int64
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					if _, err := w.people.SubmitTransaction(ctx, acts, nil); err == nil {
						written.Add(rows)
					}
				}
			})
			wg.Go(func() {
				filter := "PartitionKey eq 'hot'"
				for ctx.Err() == nil {
					page, err := w.people.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}).NextPage(ctx)
					if err == nil {
						read.Add(int64(len(page.Entities)))
					}
				}
			})
		}
		used := during(seconds*time.Second, func() int64 { return written.Load() + read.Load() })
		figure(t, "transactions and pages: share of the target", used/(seconds*partitionTarget), 0.9, 1.1)
		figure(t, "transactions and pages: share refused", float64(w.distant.busy.Load())/float64(w.distant.tries.Load()), 0, 0.03)
		if written.Load() == 0 || read.Load() == 0 {
			t.Errorf("%d rows written, %d read", written.Load(), read.Load())
		}
	})
}

func TestABurstStartsSlowlyAndDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
			sent.Add(1)
			time.Sleep(time.Millisecond)
			return respond(http.StatusOK, nil, "{}"), nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = transport.Do(read(ctx, "p"))
				}
			})
		}
		before := int64(0)
		for i, most := range []int64{160, 110, 220, 440, 880} {
			time.Sleep(100 * time.Millisecond)
			if n := sent.Load() - before; n > most {
				t.Errorf("%d requests in tenth %d of a second, want at most %d", n, i, most)
			}
			before = sent.Load()
		}
		time.Sleep(1500 * time.Millisecond)
		if n := during(time.Second, sent.Load); n < 50_000 {
			t.Errorf("after 2 s without a refusal, %v requests per second are sent", n)
		}
		cancel()
		wg.Wait()
	})
}

// A service that becomes slow with load, and refuses nothing.
func TestALimitThatIsReachedFallsWhenRepliesBecomeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		var slow atomic.Bool
		_, transport := governed(t, nil, func(*http.Request) (*http.Response, error) {
			sent.Add(1)
			if slow.Load() {
				time.Sleep(300 * time.Millisecond)
			}
			time.Sleep(5 * time.Millisecond)
			return respond(http.StatusOK, nil, "{}"), nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 4_000 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = transport.Do(read(ctx, "p"))
				}
			})
		}
		time.Sleep(250 * time.Millisecond) // in slow start
		slow.Store(true)
		time.Sleep(500 * time.Millisecond)
		if n := during(2*time.Second, sent.Load); n > 2*1200 {
			t.Errorf("%v requests in 2 s to a service that has become slow", n)
		}
		cancel()
		wg.Wait()
	})
}

func TestGovernedClientsOfAllServicesWork(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		g := assert.Must(govern.New(nil))(t)
		b.Configure = func(o *azcore.ClientOptions) { g.Attach(o) }
		type person struct{ PartitionKey, RowKey string }
		people, err := patterns.NewTable[person](b.Table(t), nil)
		assert.NoError(t, err)
		queue, box := b.Queue(t), b.Container(t)
		b.ResetRequests()
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			assert.NoError(t, err)
		}
		const rows = 30
		batch := people.Batch()
		for i := range rows {
			batch.Insert(&person{"p", fmt.Sprint(i)})
		}
		_, err = batch.Commit(ctx)
		must(err)
		n := 0
		for _, err := range people.Query(govern.Background(ctx), query.PartitionKey.Eq("p"), nil) {
			must(err)
			n++
		}
		_, err = queue.EnqueueMessage(ctx, "hello", nil)
		must(err)
		_, err = queue.DequeueMessages(ctx, nil)
		must(err)
		_, err = box.NewBlockBlobClient("x").UploadBuffer(ctx, bytes.Repeat([]byte("x"), 100), nil)
		must(err)
		assert.Equal(t, n, rows, "rows")
		b.WantRequests(t, map[string]int{"Table.Batch": 1, "Table.Query": 1, "Queue.Put": 1, "Queue.Get": 1, "Blob.Put": 1})
	})
}
