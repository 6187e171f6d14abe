package harness

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestEachBackendServesTablesQueuesAndContainers(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		table := b.Table(t)
		assert.NoError(t, assert.ErrorOf(table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r","Age":42}`), nil)))
		pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{})
		page := assert.Must(pager.NextPage(t.Context()))(t)
		assert.Equal(t, len(page.Entities), 1, "rows")

		queue := b.Queue(t)
		assert.NoError(t, assert.ErrorOf(queue.EnqueueMessage(t.Context(), "hello", nil)))
		got := assert.Must(queue.DequeueMessage(t.Context(), nil))(t)
		assert.Equal(assert.Now(t), len(got.Messages), 1)
		assert.Equal(t, *got.Messages[0].MessageText, "hello")

		blob := b.Container(t).NewBlockBlobClient("a/b")
		assert.NoError(t, assert.ErrorOf(blob.UploadBuffer(t.Context(), []byte("hello"), nil)))
		text := make([]byte, 5)
		assert.Equal(t, string(text[:assert.Must(blob.DownloadBuffer(t.Context(), text, nil))(t)]), "hello", text)
	})
}

func TestFaultsAndLogIgnoreTheHarnessesOwnRequests(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		b.Fault(storagetest.On("*").Nth(1).Status(http.StatusServiceUnavailable, "ServerBusy"))
		table := b.Table(t)
		assert.Equal(assert.Now(t), len(b.Requests()), 0, "the set-up was logged", b.Requests())
		assert.NoError(t, assert.ErrorOf(table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil)))
		want := []string{"Table.Insert", "Table.Insert"}
		log := b.Requests()
		assert.EqualSlices(t, log.Ops(), want)
		assert.Equal(t, log[0].Status, http.StatusServiceUnavailable)
		b.ResetRequests()
		b.ClearFaults()
		assert.Equal(t, len(b.Requests()), 0, "requests after the reset")
	})
}

func TestALostReplyLeavesTheRow(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		table := b.Table(t)
		b.Fault(storagetest.On("Table.Insert").Nth(1).LoseReply())
		_, err := table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil)
		var refused *azcore.ResponseError
		if !errors.As(err, &refused) || refused.StatusCode != http.StatusConflict {
			t.Errorf("the retry got %v", err)
		}
		assert.Equal(t, assert.ErrorOf(table.GetEntity(t.Context(), "p", "r", nil)), nil)
	})
}

func TestALostRequestLeavesNoRow(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		table := b.Table(t)
		b.Fault(storagetest.On("Table.Insert").LoseRequest())
		if _, err := table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil); err == nil {
			t.Error("an insert that was not applied succeeded")
		}
		assert.Equal(t, b.Requests().Count("Table.Insert"), 4, "tries, want the SDK's default of 4")
		var missing *azcore.ResponseError
		if _, err := table.GetEntity(t.Context(), "p", "r", nil); !errors.As(err, &missing) || missing.StatusCode != http.StatusNotFound {
			t.Errorf("got %v", err)
		}
	})
}

func TestALateRequestArrivesInEveryMode(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		table := b.Table(t)
		b.Fault(storagetest.On("Table.Insert").Nth(1).LateRequest(time.Hour, time.Hour))
		assert.NoError(t, assert.ErrorOf(table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil)))
		assert.NoError(t, assert.ErrorOf(table.DeleteEntity(t.Context(), "p", "r", nil)))
		assert.Equal(t, b.Arrive(), 1, "late requests")
		assert.Equal(t, assert.ErrorOf(table.GetEntity(t.Context(), "p", "r", nil)), nil, "the late insert was not carried out")
	})
}

func TestTheInProcessBackendRunsInVirtualTime(t *testing.T) {
	RunInProcess(t, func(t *testing.T, b *Backend) {
		synctest.Test(t, func(t *testing.T) {
			table := b.Table(t)
			b.Fault(storagetest.On("Table.Insert").Nth(1).Delay(10 * time.Minute))
			began := time.Now()
			assert.NoError(t, assert.ErrorOf(table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil)))
			if took := time.Since(began); took < 10*time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	})
}

// Only an accelerated client can change a key with a quote in a transaction.
func TestAcceleratedBackendsHaveAcceleratedTableClients(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		type row struct{ PartitionKey, RowKey string }
		table, err := patterns.NewTable[row](b.Table(t), nil)
		assert.NoError(t, err)
		key := keys.Key{Partition: "O'Brien", Row: "r"}
		assert.NoError(t, assert.ErrorOf(table.Insert(t.Context(), &row{key.Partition, key.Row})))
		_, err = table.Batch().Delete(key, azcore.ETagAny).Commit(t.Context())
		assert.Equal(t, err == nil, b.Accelerated, "Backend.Accelerated is", "and the transaction got", err)
	})
}

func TestTheOutboxQueueDeliversAMessageAgainUntilItIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := &OutboxQueue{}, t.Context()
		first := assert.Must(q.Put(ctx, patterns.OutboxMessage{}, time.Minute))(t)
		attempts := 0
		fails := handlerFunc(func() (time.Duration, error) { attempts++; return 0, errors.New("fails") })
		if ok, _ := q.WorkOne(ctx, fails, time.Hour); ok {
			t.Error("the message is visible early")
		}
		time.Sleep(time.Minute)
		if ok, err := q.WorkOne(ctx, fails, time.Hour); !ok || err == nil {
			t.Errorf("got %v, %v", ok, err)
		}
		if ok, _ := q.WorkOne(ctx, fails, time.Hour); ok || attempts != 1 {
			t.Error("the message is visible while a worker has it")
		}
		assert.NoError(t, q.Delete(ctx, first))
		assert.Equal(t, q.Len(), 1)
		time.Sleep(time.Hour)
		if ok, err := q.WorkOne(ctx, handlerFunc(func() (time.Duration, error) { return time.Hour, nil }), time.Minute); !ok || err != nil || q.Len() != 1 {
			t.Errorf("got %v, %v, %d messages", ok, err, q.Len())
		}
		q.ShowFirst()
		if ok, err := q.WorkOne(ctx, handlerFunc(func() (time.Duration, error) { return 0, nil }), time.Minute); !ok || err != nil || q.Len() != 0 {
			t.Errorf("got %v, %v, %d messages", ok, err, q.Len())
		}
	})
}

type handlerFunc func() (time.Duration, error)

func (f handlerFunc) Handle(context.Context, patterns.OutboxMessage) (time.Duration, error) {
	return f()
}
