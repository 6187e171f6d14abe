package storagetest_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func get(t *testing.T, q *azqueue.QueueClient) []string {
	t.Helper()
	res, err := q.DequeueMessages(t.Context(), &azqueue.DequeueMessagesOptions{VisibilityTimeout: to.Ptr(int32(30))})
	if err != nil {
		t.Fatal(err)
	}
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
		if _, err := q.Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := q.EnqueueMessage(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]string{{"a"}, nil, {"a"}} {
			if got := get(t, q); !slices.Equal(got, want) {
				t.Errorf("get %d: %v, want %v", i, got, want)
			}
			time.Sleep(16 * time.Second)
		}
	})
}

func TestMessagesAreDeliveredLateAndTwiceOnDemand(t *testing.T) {
	acct := storagetest.New(t)
	q := acct.Queue("jobs")
	if _, err := q.Create(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", "b"} {
		if _, err := q.EnqueueMessage(t.Context(), text, nil); err != nil {
			t.Fatal(err)
		}
	}
	acct.Fault(storagetest.On("Queue.Get").Nth(1).NoMessages(), storagetest.On("Queue.Get").Nth(2).Redeliver())
	for i, want := range [][]string{nil, {"a"}, {"a"}, {"b"}, nil} {
		if got := get(t, q); !slices.Equal(got, want) {
			t.Errorf("get %d: %v, want %v", i, got, want)
		}
	}
}

func TestADelayedBlobRequestTakesThatTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		box := acct.Container("box")
		if _, err := box.Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		acct.Fault(storagetest.On("Blob.Put").Resource("box").DelayReply(time.Minute))
		start := time.Now()
		if _, err := box.NewBlockBlobClient("b").UploadBuffer(t.Context(), []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d != time.Minute {
			t.Errorf("%v", d)
		}
	})
}
