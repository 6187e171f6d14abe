package harness

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestEachBackendServesTablesQueuesAndContainers(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		table := b.Table(t)
		if _, err := table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r","Age":42}`), nil); err != nil {
			t.Fatal(err)
		}
		pager := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{})
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Entities) != 1 {
			t.Errorf("got %d rows", len(page.Entities))
		}

		queue := b.Queue(t)
		if _, err := queue.EnqueueMessage(t.Context(), "hello", nil); err != nil {
			t.Fatal(err)
		}
		got, err := queue.DequeueMessage(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Messages) != 1 || *got.Messages[0].MessageText != "hello" {
			t.Errorf("got %d messages", len(got.Messages))
		}

		blob := b.Container(t).NewBlockBlobClient("a/b")
		if _, err := blob.UploadBuffer(t.Context(), []byte("hello"), nil); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 5)
		if n, err := blob.DownloadBuffer(t.Context(), text, nil); err != nil || string(text[:n]) != "hello" {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

func TestFaultsAndLogIgnoreTheHarnessesOwnRequests(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		b.Fault(storagetest.On("*").Nth(1).Status(http.StatusServiceUnavailable, "ServerBusy"))
		table := b.Table(t)
		if n := len(b.Requests()); n != 0 {
			t.Fatalf("the set-up was logged: %v", b.Requests())
		}
		_, err := table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"Table.Insert", "Table.Insert"}
		log := b.Requests()
		if !slices.Equal(log.Ops(), want) || log[0].Status != http.StatusServiceUnavailable {
			t.Errorf("got %v", log)
		}
		b.ResetRequests()
		b.ClearFaults()
		if n := len(b.Requests()); n != 0 {
			t.Errorf("%d requests after the reset", n)
		}
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
		if _, err := table.GetEntity(t.Context(), "p", "r", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestALostRequestLeavesNoRow(t *testing.T) {
	Run(t, func(t *testing.T, b *Backend) {
		table := b.Table(t)
		b.Fault(storagetest.On("Table.Insert").LoseRequest())
		if _, err := table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil); err == nil {
			t.Error("an insert that was not applied succeeded")
		}
		if n := b.Requests().Count("Table.Insert"); n != 4 {
			t.Errorf("%d tries, want the SDK's default of 4", n)
		}
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
		if _, err := table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := table.DeleteEntity(t.Context(), "p", "r", nil); err != nil {
			t.Fatal(err)
		}
		if n := b.Arrive(); n != 1 {
			t.Errorf("%d late requests", n)
		}
		if _, err := table.GetEntity(t.Context(), "p", "r", nil); err != nil {
			t.Errorf("the late insert was not carried out: %v", err)
		}
	})
}

func TestTheInProcessBackendRunsInVirtualTime(t *testing.T) {
	RunInProcess(t, func(t *testing.T, b *Backend) {
		synctest.Test(t, func(t *testing.T) {
			table := b.Table(t)
			b.Fault(storagetest.On("Table.Insert").Nth(1).Delay(10 * time.Minute))
			began := time.Now()
			if _, err := table.AddEntity(t.Context(), []byte(`{"PartitionKey":"p","RowKey":"r"}`), nil); err != nil {
				t.Fatal(err)
			}
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
		if err != nil {
			t.Fatal(err)
		}
		key := keys.Key{Partition: "O'Brien", Row: "r"}
		if _, err := table.Insert(t.Context(), &row{key.Partition, key.Row}); err != nil {
			t.Fatal(err)
		}
		_, err = table.Batch().Delete(key, azcore.ETagAny).Commit(t.Context())
		if accelerated := err == nil; accelerated != b.Accelerated {
			t.Errorf("Backend.Accelerated is %v, and the transaction got %v", b.Accelerated, err)
		}
	})
}

func TestTheOutboxQueueDeliversAMessageAgainUntilItIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := &OutboxQueue{}, t.Context()
		first, err := q.Put(ctx, patterns.OutboxMessage{}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
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
		if err := q.Delete(ctx, first); err != nil || q.Len() != 1 {
			t.Errorf("an invalid receipt: %v, %d messages", err, q.Len())
		}
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
