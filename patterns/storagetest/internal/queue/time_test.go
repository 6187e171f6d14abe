package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/queueerror"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

// texts gets up to n messages and returns their texts.
func texts(t *testing.T, q *azqueue.QueueClient, n, hide int32) []string {
	t.Helper()
	r := assert.Must(q.DequeueMessages(t.Context(), &azqueue.DequeueMessagesOptions{NumberOfMessages: &n, VisibilityTimeout: &hide}))(t)
	var list []string
	for _, m := range r.Messages {
		list = append(list, *m.MessageText)
	}
	return list
}

func put(t *testing.T, q *azqueue.QueueClient, text string, o *azqueue.EnqueueMessageOptions) *azqueue.EnqueuedMessage {
	t.Helper()
	r := assert.Must(q.EnqueueMessage(t.Context(), text, o))(t)
	return r.Messages[0]
}

func TestAMessageReappearsWhenItsVisibilityTimeoutEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		put(t, q, "late", &azqueue.EnqueueMessageOptions{VisibilityTimeout: to.Ptr[int32](10)})
		put(t, q, "now", nil)
		assert.EqualSlices(t, texts(t, q, 32, 30), []string{"now"}, "immediately")
		time.Sleep(10*time.Second - time.Nanosecond)
		if got := texts(t, q, 32, 30); got != nil {
			t.Errorf("just before 10 s: %v", got)
		}
		time.Sleep(time.Nanosecond)
		assert.EqualSlices(t, texts(t, q, 32, 60), []string{"late"}, "at 10 s")
		time.Sleep(20 * time.Second)
		r, err := q.DequeueMessage(t.Context(), nil)
		if err != nil || len(r.Messages) != 1 || *r.Messages[0].MessageText != "now" || *r.Messages[0].DequeueCount != 2 {
			t.Errorf("at 30 s: %+v, %v", r.Messages, err)
		}
	})
}

func TestAReceiptIsValidUntilTheMessageIsReceivedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		put(t, q, "a", nil)
		first := assert.Must(q.DequeueMessage(t.Context(), &azqueue.DequeueMessageOptions{VisibilityTimeout: to.Ptr[int32](1)}))(t)
		time.Sleep(time.Hour) // visible again, but not received
		m := first.Messages[0]
		up, err := q.UpdateMessage(t.Context(), *m.MessageID, *m.PopReceipt, "b", &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr[int32](0)})
		assert.NoError(t, err)
		assert.EqualSlices(t, texts(t, q, 1, 30), []string{"b"})
		_, err = q.DeleteMessage(t.Context(), *m.MessageID, *up.PopReceipt, nil)
		wantCode(t, err, queueerror.PopReceiptMismatch)
	})
}

func TestAMessageExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		m := put(t, q, "short", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr[int32](5)})
		put(t, q, "week", nil)
		put(t, q, "ever", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr[int32](-1)})
		time.Sleep(5 * time.Second)
		_, err := q.DeleteMessage(t.Context(), *m.MessageID, *m.PopReceipt, nil)
		wantCode(t, err, queueerror.MessageNotFound)
		for _, c := range []struct {
			after time.Duration
			want  int32
		}{{0, 2}, {7*24*time.Hour - 5*time.Second, 1}, {100 * 365 * 24 * time.Hour, 1}} {
			time.Sleep(c.after)
			p, err := q.GetProperties(t.Context(), nil)
			assert.NoError(t, err)
			assert.Equal(t, *p.ApproximateMessagesCount, c.want)
		}
	})
}

func TestAnUpdateCannotHideAMessageBeyondItsExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		m := put(t, q, "a", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr[int32](60)})
		_, err := q.UpdateMessage(t.Context(), *m.MessageID, *m.PopReceipt, "a", &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr[int32](61)})
		wantCode(t, err, queueerror.OutOfRangeQueryParameterValue)
		if _, err = q.UpdateMessage(t.Context(), *m.MessageID, *m.PopReceipt, "a", &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr[int32](59)}); err != nil {
			t.Error(err)
		}
	})
}

func TestTheNameOfADeletedQueueIsBlockedFor30Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		put(t, q, "a", nil)
		assert.NoError(t, assert.ErrorOf(q.Delete(t.Context(), nil)))
		_, err := q.GetProperties(t.Context(), nil)
		wantCode(t, err, queueerror.QueueNotFound)
		time.Sleep(30*time.Second - time.Nanosecond)
		_, err = q.Create(t.Context(), nil)
		wantCode(t, err, queueerror.QueueBeingDeleted)
		time.Sleep(time.Nanosecond)
		assert.NoError(t, assert.ErrorOf(q.Create(t.Context(), nil)))
		if got := texts(t, q, 32, 30); got != nil {
			t.Errorf("the new queue contains %v", got)
		}
	})
}

func TestMessagesAreReturnedInOrderAndClearRemovesAll(t *testing.T) {
	q := newQueue(t)
	var want []string
	for _, r := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		put(t, q, string(r), nil)
		want = append(want, string(r))
	}
	assert.EqualSlices(t, texts(t, q, 32, 30), want[:32])
	peeked, err := q.PeekMessages(t.Context(), &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr[int32](32)})
	assert.NoError(t, err)
	assert.Equal(t, len(peeked.Messages), 4)
	assert.NoError(t, assert.ErrorOf(q.ClearMessages(t.Context(), nil)))
	p, err := q.GetProperties(t.Context(), nil)
	assert.NoError(t, err)
	assert.Equal(t, *p.ApproximateMessagesCount, 0)
}

func TestAnUpdateWithoutABodyKeepsTheText(t *testing.T) {
	s := service(t)
	servicetest.Send(t, s, "POST", "/queue1/messages", text("keep"))
	got := servicetest.Send(t, s, "GET", "/queue1/messages", "")
	servicetest.Send(t, s, "PUT", "/queue1/messages/"+element(got.Body, "MessageId")+"?visibilitytimeout=0&popreceipt="+escape(element(got.Body, "PopReceipt")), "").Want(t, 204, "")
	got = servicetest.Send(t, s, "GET", "/queue1/messages", "")
	assert.Equal(t, element(got.Body, "MessageText"), "keep")
	assert.Equal(t, element(got.Body, "DequeueCount"), "2")
}
