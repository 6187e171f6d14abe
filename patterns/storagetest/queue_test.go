package storagetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func get(t *testing.T, q *azqueue.QueueClient) []string {
	t.Helper()
	res := assert.Must(q.DequeueMessages(t.Context(), &azqueue.DequeueMessagesOptions{VisibilityTimeout: to.Ptr(int32(30))}))(t)
	var texts []string
	for _, m := range res.Messages {
		texts = append(texts, *m.MessageText)
	}
	return texts
}

func TestVisibilityPassesInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		q := acct.Queue("jobs")
		assert.NoError(t, assert.ErrorOf(q.Create(t.Context(), nil)))
		assert.NoError(t, assert.ErrorOf(q.EnqueueMessage(t.Context(), "a", nil)))
		for i, want := range [][]string{{"a"}, nil, {"a"}} {
			assert.EqualSlices(t, get(t, q), want, "get", i)
			time.Sleep(16 * time.Second)
		}
	})
}

func TestMessagesAreDeliveredLateAndTwiceOnDemand(t *testing.T) {
	acct := storagetest.New(t)
	q := acct.Queue("jobs")
	assert.NoError(t, assert.ErrorOf(q.Create(t.Context(), nil)))
	for _, text := range []string{"a", "b"} {
		assert.NoError(t, assert.ErrorOf(q.EnqueueMessage(t.Context(), text, nil)))
	}
	acct.Fault(storagetest.On("Queue.Get").Nth(1).NoMessages(), storagetest.On("Queue.Get").Nth(2).Redeliver())
	for i, want := range [][]string{nil, {"a"}, {"a"}, {"b"}, nil} {
		assert.EqualSlices(t, get(t, q), want, "get", i)
	}
}

func TestADelayedBlobRequestTakesThatTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		box := acct.Container("box")
		assert.NoError(t, assert.ErrorOf(box.Create(t.Context(), nil)))
		acct.Fault(storagetest.On("Blob.Put").Resource("box").DelayReply(time.Minute))
		start := time.Now()
		assert.NoError(t, assert.ErrorOf(box.NewBlockBlobClient("b").UploadBuffer(t.Context(), []byte("x"), nil)))
		assert.Equal(t, time.Since(start), time.Minute)
	})
}
