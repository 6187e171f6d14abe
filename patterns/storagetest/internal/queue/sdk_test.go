package queue_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/queueerror"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/queue"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

// newClient returns an SDK client of a new service, without retries.
func newClient(t *testing.T) *azqueue.ServiceClient {
	return clientOf(t, servicetest.Handler(op.Queue, queue.New().Serve))
}

func clientOf(t *testing.T, s http.Handler) *azqueue.ServiceClient {
	t.Helper()
	c, err := azqueue.NewServiceClientWithNoCredential("https://account.queue.example/", &azqueue.ClientOptions{
		ClientOptions: azcore.ClientOptions{
			Transport: &servicetest.Transport{Handler: s},
			Retry:     policy.RetryOptions{MaxRetries: -1},
		},
	})
	assert.NoError(t, err)
	return c
}

// newQueue returns a client of queue1 on a new service.
func newQueue(t *testing.T) *azqueue.QueueClient { return newQueueOn(t, service(t)) }

func newQueueOn(t *testing.T, s http.Handler) *azqueue.QueueClient {
	t.Helper()
	return clientOf(t, s).NewQueueClient("queue1")
}

func wantCode(t *testing.T, err error, code queueerror.Code) {
	t.Helper()
	if !queueerror.HasCode(err, code) {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestSDKCreatesListsAndDescribesQueues(t *testing.T) {
	c := newClient(t)
	meta := map[string]*string{"Owner": to.Ptr("me")}
	for _, name := range []string{"bbb", "aaa", "abc"} {
		assert.NoError(t, assert.ErrorOf(c.CreateQueue(t.Context(), name, &azqueue.CreateOptions{Metadata: meta})))
	}
	if _, err := c.CreateQueue(t.Context(), "aaa", &azqueue.CreateOptions{Metadata: meta}); err != nil {
		t.Errorf("create again with the same metadata: %v", err)
	}
	_, err := c.CreateQueue(t.Context(), "aaa", nil)
	wantCode(t, err, queueerror.QueueAlreadyExists)

	var names []string
	pages := 0
	pager := c.NewListQueuesPager(&azqueue.ListQueuesOptions{
		Include: azqueue.ListQueuesInclude{Metadata: true}, MaxResults: to.Ptr[int32](1), Prefix: to.Ptr("a"),
	})
	for pager.More() {
		page := assert.Must(pager.NextPage(t.Context()))(t)
		pages++
		for _, q := range page.Queues {
			names = append(names, *q.Name+"/"+*q.Metadata["owner"])
		}
	}
	if got := strings.Join(names, " "); got != "aaa/me abc/me" || pages != 2 {
		t.Errorf("listed %q on %d pages", got, pages)
	}

	q := c.NewQueueClient("bbb")
	assert.NoError(t, assert.ErrorOf(q.SetMetadata(t.Context(), &azqueue.SetMetadataOptions{Metadata: map[string]*string{"a": to.Ptr("1")}})))
	props, err := q.GetProperties(t.Context(), nil)
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), *props.ApproximateMessagesCount, 0)
	assert.Equal(assert.Now(t), len(props.Metadata), 1)
	assert.Equal(t, *props.Metadata["A"], "1")
}

func TestSDKPutsGetsUpdatesAndDeletesAMessage(t *testing.T) {
	q := newQueue(t)
	ctx := t.Context()
	text := "a <b> & \r\n\t\"c\" \U0001F600"
	put := assert.Must(q.EnqueueMessage(ctx, text, nil))(t)
	peeked, err := q.PeekMessage(ctx, nil)
	if err != nil || len(peeked.Messages) != 1 || *peeked.Messages[0].MessageText != text || *peeked.Messages[0].DequeueCount != 0 {
		t.Fatalf("peek %+v, %v", peeked.Messages, err)
	}
	got, err := q.DequeueMessage(ctx, nil)
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), len(got.Messages), 1)
	m := got.Messages[0]
	if *m.MessageText != text || *m.DequeueCount != 1 || *m.MessageID != *put.Messages[0].MessageID {
		t.Errorf("got %q, count %d", *m.MessageText, *m.DequeueCount)
	}
	if *m.PopReceipt == *put.Messages[0].PopReceipt {
		t.Error("a get has to change the pop receipt")
	}
	_, err = q.DeleteMessage(ctx, *m.MessageID, *put.Messages[0].PopReceipt, nil)
	wantCode(t, err, queueerror.PopReceiptMismatch)

	up, err := q.UpdateMessage(ctx, *m.MessageID, *m.PopReceipt, "", &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr[int32](0)})
	if err != nil || *up.PopReceipt == *m.PopReceipt {
		t.Fatalf("update %+v, %v", up, err)
	}
	_, err = q.UpdateMessage(ctx, *m.MessageID, *m.PopReceipt, "x", &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr[int32](0)})
	wantCode(t, err, queueerror.PopReceiptMismatch)
	peeked, err = q.PeekMessage(ctx, nil)
	if err != nil || len(peeked.Messages) != 1 || *peeked.Messages[0].MessageText != "" {
		t.Fatalf("after an empty update: %+v, %v", peeked.Messages, err)
	}
	assert.NoError(t, assert.ErrorOf(q.DeleteMessage(ctx, *m.MessageID, *up.PopReceipt, nil)))
	_, err = q.DeleteMessage(ctx, *m.MessageID, *up.PopReceipt, nil)
	wantCode(t, err, queueerror.MessageNotFound)
}

func TestSDKReadsAndWritesPoliciesAndSettings(t *testing.T) {
	c := newClient(t)
	q := c.NewQueueClient("queue1")
	assert.NoError(t, assert.ErrorOf(q.Create(t.Context(), nil)))
	perm := azqueue.AccessPolicyPermission{Read: true, Process: true}
	_, err := q.SetAccessPolicy(t.Context(), &azqueue.SetAccessPolicyOptions{QueueACL: []*azqueue.SignedIdentifier{
		{ID: to.Ptr("one"), AccessPolicy: &azqueue.AccessPolicy{Permission: to.Ptr(perm.String())}},
	}})
	assert.NoError(t, err)
	acl, err := q.GetAccessPolicy(t.Context(), nil)
	if err != nil || len(acl.SignedIdentifiers) != 1 || *acl.SignedIdentifiers[0].AccessPolicy.Permission != "rp" {
		t.Errorf("%+v, %v", acl.SignedIdentifiers, err)
	}
	_, err = c.SetProperties(t.Context(), &azqueue.SetPropertiesOptions{HourMetrics: &azqueue.Metrics{
		Enabled: to.Ptr(true), IncludeAPIs: to.Ptr(true), Version: to.Ptr("1.0"),
		RetentionPolicy: &azqueue.RetentionPolicy{Enabled: to.Ptr(true), Days: to.Ptr[int32](7)},
	}})
	assert.NoError(t, err)
	props, err := c.GetServiceProperties(t.Context(), nil)
	if err != nil || !*props.HourMetrics.Enabled || *props.MinuteMetrics.Enabled || *props.HourMetrics.RetentionPolicy.Days != 7 {
		t.Errorf("%+v, %v", props, err)
	}
}
