package eventual_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// onMessage returns a queue client, with options that extend changes, whose transport always
// replies that a message was added.
func onMessage(t *testing.T, extend func(*azcore.ClientOptions)) *azqueue.QueueClient {
	t.Helper()
	const body = `<?xml version="1.0" encoding="utf-8"?><QueueMessagesList><QueueMessage><MessageId>5974b586-0df3-4e2d-ad0c-18e3892bfca2</MessageId>` +
		`<InsertionTime>Mon, 22 Sep 2014 23:29:20 GMT</InsertionTime><ExpirationTime>Mon, 29 Sep 2014 23:29:20 GMT</ExpirationTime>` +
		`<PopReceipt>YzQ4Yzg1MDIGM0MDFiZDAwYzEw</PopReceipt><TimeNextVisible>Tue, 23 Sep 2014 05:29:20 GMT</TimeNextVisible></QueueMessage></QueueMessagesList>`
	o := &azqueue.ClientOptions{}
	o.Transport = harness.Transport(func(req *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, req.Body)
		return &http.Response{
			Status: "201 Created", StatusCode: http.StatusCreated, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
			Header: http.Header{"Content-Type": {"application/xml"}}, Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)),
		}, err
	})
	extend(&o.ClientOptions)
	cred := assert.Must(azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	return assert.Must(azqueue.NewQueueClientWithSharedKeyCredential(storagetest.QueuesURL+"/work", cred, o))(t)
}

// By hand, a competent user writes the payload as JSON in base64, with an ID and a kind.
func TestEnqueueOnAClientWithLimitRepliesAllocatesLessThanTheSDKAlone(t *testing.T) {
	plain := func(*azcore.ClientOptions) {}
	ctx, payload := context.Background(), letter{"Ken", "hello"}
	queue := onMessage(t, plain)
	hand := testing.AllocsPerRun(100, func() {
		text, err1 := json.Marshal(map[string]any{"ID": uuid.NewString(), "Kind": "letter", "Payload": payload})
		_, err2 := queue.EnqueueMessage(ctx, base64.StdEncoding.EncodeToString(text), &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))})
		assert.Equal(assert.Now(t), err1, nil)
		assert.Equal(assert.Now(t), err2, nil)
	})
	ours := func(extend func(*azcore.ClientOptions)) float64 {
		queue := onMessage(t, extend)
		return testing.AllocsPerRun(100, func() {
			assert.NoError(t, eventual.Enqueue(ctx, queue, "letter", payload, nil))
		})
	}
	without, with := ours(plain), ours(patterns.LimitReplies)
	t.Logf("by hand %v allocations, without LimitReplies %v, with it %v", hand, without, with)
	if with > 0.7*hand || without > hand+20 {
		t.Errorf("by hand %v allocations, without LimitReplies %v, with it %v", hand, without, with)
	}
}
