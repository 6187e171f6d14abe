package otel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"go.opentelemetry.io/otel/codes"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// values returns the attribute of each ended span of that name, in their order.
func (w *world) values(name, attribute string) []string {
	var all []string
	for _, s := range w.spans.GetSpans() {
		if s.Name == name {
			all = append(all, attributes(s.Attributes)[attribute])
		}
	}
	return all
}

func wantValues(t *testing.T, w *world, name, attribute string, want ...string) {
	t.Helper()
	if got := w.values(name, attribute); !slices.Equal(got, want) {
		t.Errorf("%s of %s: %q, want %q", attribute, name, got, want)
	}
}

func TestTheTriesOfARequestAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.rows(t, 1)
		ken := keys.Key{Partition: "Sales" + secret, Row: "0" + secret}
		for range 3 { // the later calls use the request of the first
			w.acct.Fault(storagetest.On("Table.Get").Times(2).Status(503, "ServerBusy"))
			assert.NoError(t, assert.ErrorOf(w.table.Get(t.Context(), ken)))
			assert.NoError(t, assert.ErrorOf(w.table.Get(t.Context(), ken)))
			wantValues(t, w, "GetEntity Employees", "http.request.resend_count", "", "1", "2", "")
			w.tree(t)
		}

		for range 2 { // a transaction, whose tries have a body
			w.acct.Fault(storagetest.On("Table.Batch").Times(1).Status(500, "InternalError"))
			two := []patterns.Op[employee]{patterns.UpsertOp(&employee{"Sales" + secret, "1", secret}, patterns.Replace), patterns.UpsertOp(&employee{"Sales" + secret, "2", secret}, patterns.Replace)}
			assert.NoError(t, assert.ErrorOf(w.table.Bulk(t.Context(), slices.Values(two), nil)))
			wantValues(t, w, "BATCH Employees", "http.request.resend_count", "", "1")
			w.tree(t)
		}

		// All tries fail: the next call begins again.
		w.acct.Fault(storagetest.On("Table.Get").Times(4).Status(503, "ServerBusy"))
		for range 2 {
			_, _ = w.table.Get(t.Context(), ken)
		}
		wantValues(t, w, "GetEntity Employees", "http.request.resend_count", "", "1", "2", "3", "")
	})
}

func TestMoreFailuresThanAreKeptAreNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		retries := aztables.ClientOptions{ClientOptions: policy.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}}
		w.attach(&retries.ClientOptions)
		client := newClient(t, &retries)
		w.acct.Fault(storagetest.On("Table.Get").Times(storagetest.Forever).LoseRequest())
		for i := range 2000 {
			_, _ = client.GetEntity(t.Context(), secret, fmt.Sprint(secret, i), nil)
		}
		if resent := slices.DeleteFunc(w.values("GetEntity Employees", "http.request.resend_count"), func(s string) bool { return s == "" }); len(resent) != 0 {
			t.Errorf("%d calls were counted as tries of others", len(resent))
		}
	})
}

func TestSpansOfRequestsHaveTheIDsOfClientAndService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		opts := aztables.ClientOptions{ClientOptions: policy.ClientOptions{PerCallPolicies: []policy.Policy{runtime.NewRequestIDPolicy()}}}
		w.attach(&opts.ClientOptions)
		_, _ = newClient(t, &opts).GetEntity(t.Context(), secret, secret, nil)
		last := w.acct.Log()[len(w.acct.Log())-1]
		s := attributes(first(t, w, "GetEntity Employees").Attributes)
		if s["az.client_request_id"] == "" || s["az.service_request_id"] == "" || s["az.client_request_id"] == s["az.service_request_id"] {
			t.Errorf("%v of %v", s, last)
		}
		w.rows(t, 1)
		assert.NoError(t, assert.ErrorOf(w.table.Get(t.Context(), keys.Key{Partition: "Sales" + secret, Row: "0" + secret})))
		s = attributes(first(t, w, "GetEntity Employees").Attributes)
		if s["az.client_request_id"] != "" || s["az.service_request_id"] == "" {
			t.Error(s)
		}
	})
}

func TestAFailureHasItsCodeAndKeepsItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.rows(t, 1)
		_, err := w.table.Insert(t.Context(), &employee{"Sales" + secret, "0" + secret, secret})
		if !errors.Is(err, patterns.ErrExists) {
			t.Error(err)
		}
		wantValues(t, w, "InsertEntity Employees", "error.type", "EntityAlreadyExists")
		w.tree(t)

		// The row of a missing table was not expected to be missing.
		must(t, assert.ErrorOf(w.table.Client().Delete(t.Context(), nil)))
		if _, err = w.table.Get(t.Context(), keys.Key{Partition: secret, Row: secret}); !errors.Is(err, patterns.ErrTableNotFound) {
			t.Error(err)
		}
		wantValues(t, w, "GetEntity Employees", "error.type", "TableBeingDeleted")
		wantValues(t, w, "table.get", "error.type", "TableBeingDeleted")
		for _, s := range []string{"GetEntity Employees", "table.get"} {
			if got := first(t, w, s).Status.Code; got != codes.Error {
				t.Errorf("%s: %v", s, got)
			}
		}
	})
}

func TestTheSpanOfAQueryHasItsPlanAndItsRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.rows(t, 5)
		ctx, sales := t.Context(), query.PartitionKey.Eq("Sales"+secret)
		loop := func(f query.Filter, leave int) {
			for range w.table.Query(ctx, f, nil) {
				if leave--; leave == 0 {
					return
				}
			}
		}
		loop(sales, 0)
		loop(sales, 2)
		loop(query.And(sales, query.RowKey.In("0"+secret, "3"+secret)), 0)
		loop(query.PartitionKey.Eq("none"), 0)
		for name, want := range map[string][]string{
			"azpatterns.query.class":    {"PartitionScan", "PartitionScan", "Point", "PartitionScan"},
			"azpatterns.query.reads":    {"1", "1", "2", "1"},
			"db.response.returned_rows": {"5", "2", "2", "0"},
		} {
			wantValues(t, w, "table.query", name, want...)
		}
		w.tree(t)

		assert.NoError(t, assert.ErrorOf(w.table.Page(ctx, sales, "", &patterns.QueryOptions{Limit: 3})))
		for range w.table.Scan(ctx, query.Filter{}, "", &patterns.QueryOptions{PageSize: 2}) {
		}
		wantValues(t, w, "table.page", "db.response.returned_rows", "3")
		wantValues(t, w, "table.scan", "db.response.returned_rows", "5")
		wantValues(t, w, "table.scan", "azpatterns.query.class", "TableScan")
		for _, class := range w.values("QueryEntities Employees", "azpatterns.query.class")[1:] {
			if class != "TableScan" && class != "PartitionRange" {
				t.Errorf("a request of the scan is a %q", class)
			}
		}
	})
}

func TestMessagesHaveTheirIDAndTheirNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for range 3 {
			must(t, eventual.Enqueue(t.Context(), w.queue, "letter", secret, &eventual.EnqueueOptions{Tracing: w.provider}))
		}
		id := attributes(first(t, w, "enqueue work").Attributes)["messaging.message.id"]
		resp := assert.Must(w.queue.PeekMessage(t.Context(), nil))(t)
		if len(resp.Messages) != 1 || *resp.Messages[0].MessageID != id {
			t.Errorf("%q is not the id of the first message", id)
		}
		w.tree(t)
		received := assert.Must(w.queue.DequeueMessages(t.Context(), &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32))}))(t)
		if len(received.Messages) != 3 {
			t.Fatalf("%d messages", len(received.Messages))
		}
		_ = assert.Must(w.queue.DequeueMessage(t.Context(), nil))(t)
		wantValues(t, w, "receive work", "messaging.batch.message_count", "3", "0")
	})
}

func TestRequestsToQueuesHaveNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		q, ctx := w.queue, t.Context()
		_, err1 := q.Create(ctx, nil)
		_, err2 := q.GetProperties(ctx, nil)
		_, err3 := q.SetMetadata(ctx, nil)
		_, err4 := q.GetAccessPolicy(ctx, nil)
		_, err5 := q.SetAccessPolicy(ctx, nil)
		_, err6 := q.ClearMessages(ctx, nil)
		_, err7 := q.Delete(ctx, nil)
		must(t, err1, err2, err3, err4, err5, err6, err7)
		wantNames(t, w.tree(t), "CreateQueue work", "GetQueueMetadata work", "SetQueueMetadata work", "GetQueueACL work", "SetQueueACL work", "clear work", "DeleteQueue work")
		key := assert.Must(azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
		var opts azqueue.ClientOptions
		w.attach(&opts.ClientOptions)
		account := assert.Must(azqueue.NewServiceClientWithSharedKeyCredential(fmt.Sprintf("https://%s.queue.core.windows.net", storagetest.AccountName), key, &opts))(t)
		_, err1 = account.NewListQueuesPager(nil).NextPage(ctx)
		_, err2 = account.GetServiceProperties(ctx, nil)
		must(t, err1, err2)
		wantNames(t, w.tree(t), "ListQueues", "GetQueueServiceProperties")
	})
}
