package conformance

import (
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/queueerror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func (s *session) send(texts ...string) {
	for _, text := range texts {
		assert.NoError(s, assert.ErrorOf(s.queue.EnqueueMessage(s.ctx, text, nil)))
	}
}

// receive gets the only message of the queue.
func (s *session) receive() *azqueue.DequeuedMessage {
	res := assert.Must(s.queue.DequeueMessage(s.ctx, nil))(s)
	assert.Equal(assert.Now(s), len(res.Messages), 1, "messages")
	return res.Messages[0]
}

var queuePrograms = []program{
	{"EnqueueMessage returns id and receipt", func(s *session) {
		res := assert.Must(s.queue.EnqueueMessage(s.ctx, "a", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(60))}))(s)
		m := res.Messages[0]
		_, err := s.queue.DeleteMessage(s.ctx, *m.MessageID, *m.PopReceipt, nil)
		s.check(err, same("lifetime", m.ExpirationTime.Sub(*m.InsertionTime), time.Minute))
	}},
	{"messages come in order", func(s *session) {
		s.send("a", "b", "c")
		res := assert.Must(s.queue.DequeueMessages(s.ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32))}))(s)
		var texts string
		for _, m := range res.Messages {
			texts += *m.MessageText
		}
		s.check(same("texts", texts, "abc"))
	}},
	{"DequeueMessage of an empty queue", func(s *session) {
		res, err := s.queue.DequeueMessage(s.ctx, nil)
		s.check(err, same("messages", len(res.Messages), 0))
	}},
	{"texts that need escaping in XML", func(s *session) {
		text := "<a href=\"x\">&amp; 'é😀' ]]> \n\t end"
		s.send(text)
		m := s.receive()
		s.check(same("text", *m.MessageText, text))
	}},
	{"PeekMessages does not hide messages", func(s *session) {
		s.send("a", "b")
		res := assert.Must(s.queue.PeekMessages(s.ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(int32(2))}))(s)
		m := s.receive()
		s.check(same("peeked", len(res.Messages), 2), same("DequeueCount", *m.DequeueCount, int64(1)))
	}},
	{"UpdateMessage returns a new receipt", func(s *session) {
		s.send("a")
		m := s.receive()
		updated := assert.Must(s.queue.UpdateMessage(s.ctx, *m.MessageID, *m.PopReceipt, "b", &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr(int32(0))}))(s)
		_, staleErr := s.queue.DeleteMessage(s.ctx, *m.MessageID, *m.PopReceipt, nil)
		again := s.receive()
		_, oldErr := s.queue.DeleteMessage(s.ctx, *m.MessageID, *updated.PopReceipt, nil)
		s.check(same("text", *again.MessageText, "b"), same("DequeueCount", *again.DequeueCount, int64(2)),
			refused(staleErr, 400, string(queueerror.PopReceiptMismatch)), refused(oldErr, 400, string(queueerror.PopReceiptMismatch)))
	}},
	{"DeleteMessage twice", func(s *session) {
		s.send("a")
		m := s.receive()
		assert.NoError(s, assert.ErrorOf(s.queue.DeleteMessage(s.ctx, *m.MessageID, *m.PopReceipt, nil)))
		_, err := s.queue.DeleteMessage(s.ctx, *m.MessageID, *m.PopReceipt, nil)
		s.check(refused(err, 404, string(queueerror.MessageNotFound)))
	}},
	{"ClearMessages", func(s *session) {
		s.send("a", "b")
		assert.NoError(s, assert.ErrorOf(s.queue.ClearMessages(s.ctx, nil)))
		p, err := s.queue.GetProperties(s.ctx, nil)
		s.check(err, same("messages", *p.ApproximateMessagesCount, int32(0)))
	}},
	{"a text of more than 64 KiB", func(s *session) {
		_, err := s.queue.EnqueueMessage(s.ctx, strings.Repeat("x", 64<<10+1), nil)
		s.check(refused(err, 413, string(queueerror.RequestBodyTooLarge)))
	}},
	{"a delay that is not less than the lifetime", func(s *session) {
		_, err := s.queue.EnqueueMessage(s.ctx, "a", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr[int32](1), VisibilityTimeout: to.Ptr[int32](2)})
		s.check(refused(err, 400, string(queueerror.InvalidQueryParameterValue)))
	}},
	{"a missing queue", func(s *session) {
		_, err := s.queues.NewQueueClient(s.name+"-none").EnqueueMessage(s.ctx, "a", nil)
		s.check(refused(err, 404, string(queueerror.QueueNotFound)))
	}},
	{"Create a queue with other metadata", func(s *session) {
		assert.NoError(s, assert.ErrorOf(s.queue.Create(s.ctx, nil)))
		_, err := s.queue.Create(s.ctx, &azqueue.CreateOptions{Metadata: map[string]*string{"color": to.Ptr("blue")}})
		s.check(refused(err, 409, string(queueerror.QueueAlreadyExists)))
	}},
	{"queues are listed in pages", func(s *session) {
		for _, tail := range []string{"-a", "-b"} {
			q := s.queues.NewQueueClient(s.name + tail)
			assert.NoError(s, assert.ErrorOf(q.Create(s.ctx, nil)))
			defer q.Delete(s.ctx, nil)
		}
		var found []string
		pager := s.queues.NewListQueuesPager(&azqueue.ListQueuesOptions{Prefix: &s.name, MaxResults: to.Ptr(int32(2))})
		for pager.More() {
			page := assert.Must(pager.NextPage(s.ctx))(s)
			for _, q := range page.Queues {
				found = append(found, strings.TrimPrefix(*q.Name, s.name))
			}
		}
		s.check(same("queues", found, []string{"", "-a", "-b"}))
	}},
	{"a shared access signature of a queue", func(s *session) {
		s.send("a")
		key := assert.Must(azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(s)
		signature := assert.Must(sas.QueueSignatureValues{
			Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour), QueueName: s.name, Permissions: (&sas.QueuePermissions{Read: true}).String(),
		}.SignWithSharedKey(key))(s)
		reader := assert.Must(azqueue.NewQueueClientWithNoCredential(s.queue.URL()+"?"+signature.Encode(), &azqueue.ClientOptions{ClientOptions: s.options}))(s)
		res, readErr := reader.PeekMessage(s.ctx, nil)
		_, writeErr := reader.EnqueueMessage(s.ctx, "b", nil)
		s.check(readErr, same("messages", len(res.Messages), 1), refused(writeErr, 403, string(queueerror.AuthorizationPermissionMismatch)))
	}},
}
