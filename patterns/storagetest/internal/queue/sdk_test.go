package queue_test

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/queueerror"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

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
