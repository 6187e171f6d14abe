package conformance

import (
	"errors"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/queueerror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func (s *session) send(texts ...string) error {
	for _, text := range texts {
		if _, err := s.queue.EnqueueMessage(s.ctx, text, nil); err != nil {
			return err
		}
	}
	return nil
}

// receive gets the only message of the queue.
func (s *session) receive() (*azqueue.DequeuedMessage, error) {
	res, err := s.queue.DequeueMessage(s.ctx, nil)
	if err != nil {
		return nil, err
	}
	if len(res.Messages) != 1 {
		return nil, same("messages", len(res.Messages), 1)
	}
	return res.Messages[0], nil
}

var queuePrograms = []program{
	{"EnqueueMessage returns id and receipt", func(s *session) error {
		res, err := s.queue.EnqueueMessage(s.ctx, "a", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(60))})
		if err != nil {
			return err
		}
		m := res.Messages[0]
		_, err = s.queue.DeleteMessage(s.ctx, *m.MessageID, *m.PopReceipt, nil)
		return errors.Join(err, same("lifetime", m.ExpirationTime.Sub(*m.InsertionTime), time.Minute))
	}},
	{"messages come in order", func(s *session) error {
		if err := s.send("a", "b", "c"); err != nil {
			return err
		}
		res, err := s.queue.DequeueMessages(s.ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32))})
		if err != nil {
			return err
		}
		var texts string
		for _, m := range res.Messages {
			texts += *m.MessageText
		}
		return same("texts", texts, "abc")
	}},
	{"DequeueMessage of an empty queue", func(s *session) error {
		res, err := s.queue.DequeueMessage(s.ctx, nil)
		return errors.Join(err, same("messages", len(res.Messages), 0))
	}},
	{"texts that need escaping in XML", func(s *session) error {
		text := "<a href=\"x\">&amp; 'é😀' ]]> \n\t end"
		if err := s.send(text); err != nil {
			return err
		}
		m, err := s.receive()
		if err != nil {
			return err
		}
		return same("text", *m.MessageText, text)
	}},
	{"PeekMessages does not hide messages", func(s *session) error {
		if err := s.send("a", "b"); err != nil {
			return err
		}
		res, err := s.queue.PeekMessages(s.ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(int32(2))})
		if err != nil {
			return err
		}
		m, err := s.receive()
		return errors.Join(err, same("peeked", len(res.Messages), 2), same("DequeueCount", *m.DequeueCount, int64(1)))
	}},
	{"UpdateMessage returns a new receipt", func(s *session) error {
		if err := s.send("a"); err != nil {
			return err
		}
		m, err := s.receive()
		if err != nil {
			return err
		}
		updated, err := s.queue.UpdateMessage(s.ctx, *m.MessageID, *m.PopReceipt, "b", &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr(int32(0))})
		if err != nil {
			return err
		}
		_, staleErr := s.queue.DeleteMessage(s.ctx, *m.MessageID, *m.PopReceipt, nil)
		again, err := s.receive()
		if err != nil {
			return err
		}
		_, oldErr := s.queue.DeleteMessage(s.ctx, *m.MessageID, *updated.PopReceipt, nil)
		return errors.Join(same("text", *again.MessageText, "b"), same("DequeueCount", *again.DequeueCount, int64(2)),
			refused(staleErr, 400, string(queueerror.PopReceiptMismatch)), refused(oldErr, 400, string(queueerror.PopReceiptMismatch)))
	}},
	{"DeleteMessage twice", func(s *session) error {
		if err := s.send("a"); err != nil {
			return err
		}
		m, err := s.receive()
		if err != nil {
			return err
		}
		if _, err := s.queue.DeleteMessage(s.ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
			return err
		}
		_, err = s.queue.DeleteMessage(s.ctx, *m.MessageID, *m.PopReceipt, nil)
		return refused(err, 404, string(queueerror.MessageNotFound))
	}},
	{"ClearMessages", func(s *session) error {
		if err := s.send("a", "b"); err != nil {
			return err
		}
		if _, err := s.queue.ClearMessages(s.ctx, nil); err != nil {
			return err
		}
		p, err := s.queue.GetProperties(s.ctx, nil)
		return errors.Join(err, same("messages", *p.ApproximateMessagesCount, int32(0)))
	}},
	{"a text of more than 64 KiB", func(s *session) error {
		_, err := s.queue.EnqueueMessage(s.ctx, strings.Repeat("x", 64<<10+1), nil)
		return refused(err, 413, string(queueerror.RequestBodyTooLarge))
	}},
	{"a delay that is not less than the lifetime", func(s *session) error {
		_, err := s.queue.EnqueueMessage(s.ctx, "a", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr[int32](1), VisibilityTimeout: to.Ptr[int32](2)})
		return refused(err, 400, string(queueerror.InvalidQueryParameterValue))
	}},
	{"a missing queue", func(s *session) error {
		_, err := s.queues.NewQueueClient(s.name+"-none").EnqueueMessage(s.ctx, "a", nil)
		return refused(err, 404, string(queueerror.QueueNotFound))
	}},
	{"Create a queue with other metadata", func(s *session) error {
		if _, err := s.queue.Create(s.ctx, nil); err != nil {
			return err
		}
		_, err := s.queue.Create(s.ctx, &azqueue.CreateOptions{Metadata: map[string]*string{"color": to.Ptr("blue")}})
		return refused(err, 409, string(queueerror.QueueAlreadyExists))
	}},
	{"queues are listed in pages", func(s *session) error {
		for _, tail := range []string{"-a", "-b"} {
			q := s.queues.NewQueueClient(s.name + tail)
			if _, err := q.Create(s.ctx, nil); err != nil {
				return err
			}
			defer q.Delete(s.ctx, nil)
		}
		var found []string
		pager := s.queues.NewListQueuesPager(&azqueue.ListQueuesOptions{Prefix: &s.name, MaxResults: to.Ptr(int32(2))})
		for pager.More() {
			page, err := pager.NextPage(s.ctx)
			if err != nil {
				return err
			}
			for _, q := range page.Queues {
				found = append(found, strings.TrimPrefix(*q.Name, s.name))
			}
		}
		return same("queues", found, []string{"", "-a", "-b"})
	}},
	{"a shared access signature of a queue", func(s *session) error {
		if err := s.send("a"); err != nil {
			return err
		}
		key, err := azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
		if err != nil {
			return err
		}
		signature, err := sas.QueueSignatureValues{
			Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour), QueueName: s.name, Permissions: (&sas.QueuePermissions{Read: true}).String(),
		}.SignWithSharedKey(key)
		if err != nil {
			return err
		}
		reader, err := azqueue.NewQueueClientWithNoCredential(s.queue.URL()+"?"+signature.Encode(), &azqueue.ClientOptions{ClientOptions: s.options})
		if err != nil {
			return err
		}
		res, readErr := reader.PeekMessage(s.ctx, nil)
		_, writeErr := reader.EnqueueMessage(s.ctx, "b", nil)
		return errors.Join(readErr, same("messages", len(res.Messages), 1), refused(writeErr, 403, string(queueerror.AuthorizationPermissionMismatch)))
	}},
}
