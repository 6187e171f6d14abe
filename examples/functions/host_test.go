package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// host replays what the host of Azure Functions does with the queue of a function and with a custom handler, request by request:
//
//   - It receives up to 16 messages, hidden for 10 minutes, decodes them from base64, and posts each to the path with the name of
//     the function: an object with Data, which has a member with the name of the binding, and Metadata.
//   - After a status of success and a reply that it can read, it deletes the message. Otherwise it makes the message visible
//     again after visibilityTimeout or, if that was delivery maxDequeueCount, moves it to QUEUE-poison.
//   - If there is no message, it waits longer each time, from 100 milliseconds to a minute.
//
// https://learn.microsoft.com/azure/azure-functions/functions-custom-handlers
// https://learn.microsoft.com/azure/azure-functions/functions-bindings-storage-queue-trigger
type host struct {
	function   string
	binding    string
	queue      *azqueue.QueueClient
	poison     *azqueue.QueueClient
	visibility time.Duration
	deliveries int64 // of a message, at most
	send       func(*http.Request) *http.Response
	statuses   map[int]int // how often each was received
}

// newHost reads host.json and the function.json of a function.
func newHost(t *testing.T, acct *storagetest.Account, function string, send func(*http.Request) *http.Response) *host {
	t.Helper()
	var settings struct {
		Extensions struct {
			Queues struct {
				VisibilityTimeout string
				MaxDequeueCount   int64
			}
		}
	}
	read(t, "host.json", &settings)
	var trigger struct {
		Bindings []struct{ Name, QueueName string }
	}
	read(t, function+"/function.json", &trigger)
	b := trigger.Bindings[0]
	visibility := assert.Must(time.Parse(time.TimeOnly, settings.Extensions.Queues.VisibilityTimeout))(t)
	return &host{function, b.Name, acct.Queue(b.QueueName), acct.Queue(b.QueueName + "-poison"), time.Duration(visibility.Second()) * time.Second,
		settings.Extensions.Queues.MaxDequeueCount, send, map[int]int{}}
}

// run polls for some time.
func (h *host) run(t *testing.T, long time.Duration) {
	t.Helper()
	pause := 100 * time.Millisecond
	for end := time.Now().Add(long); time.Now().Before(end); {
		resp := assert.Must(h.queue.DequeueMessages(t.Context(), &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(16)), VisibilityTimeout: to.Ptr(int32(600))}))(t)
		for _, m := range resp.Messages {
			h.deliver(t, m)
		}
		if pause = min(2*pause, time.Minute); len(resp.Messages) > 0 {
			pause = 100 * time.Millisecond
		}
		time.Sleep(pause)
	}
}

// deliver is one message, from its delivery to its end.
func (h *host) deliver(t *testing.T, m *azqueue.DequeuedMessage) {
	t.Helper()
	var err error
	switch {
	case h.invoke(t, m):
		_, err = h.queue.DeleteMessage(t.Context(), *m.MessageID, *m.PopReceipt, nil)
	case *m.DequeueCount >= h.deliveries:
		if _, err = h.poison.EnqueueMessage(t.Context(), *m.MessageText, nil); err == nil {
			_, err = h.queue.DeleteMessage(t.Context(), *m.MessageID, *m.PopReceipt, nil)
		}
	default:
		_, err = h.queue.UpdateMessage(t.Context(), *m.MessageID, *m.PopReceipt, *m.MessageText,
			&azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr(int32(h.visibility.Seconds()))})
	}
	assert.NoError(t, err)
}

// invoke posts the message to the handler, and reports whether the invocation succeeded.
func (h *host) invoke(t *testing.T, m *azqueue.DequeuedMessage) bool {
	t.Helper()
	text := assert.Must(base64.StdEncoding.DecodeString(*m.MessageText))(t)
	quoted := assert.Must(json.Marshal(string(text)))(t)
	body := assert.Must(json.Marshal(map[string]any{
		"Data": map[string]any{h.binding: string(quoted)},
		"Metadata": map[string]any{
			"DequeueCount": strconv.FormatInt(*m.DequeueCount, 10), "Id": *m.MessageID, "PopReceipt": *m.PopReceipt,
			"ExpirationTime": m.ExpirationTime, "InsertionTime": m.InsertionTime, "NextVisibleTime": m.TimeNextVisible,
			"sys": map[string]any{"MethodName": h.function, "UtcNow": time.Now().UTC(), "RandGuid": uuid.NewString()},
		},
	}))(t)
	req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/"+h.function, bytes.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Azure-Functions-Host/4.0.0.0")
	req.Header.Set("X-Azure-Functions-HostVersion", "4.0.0.0")
	req.Header.Set("X-Azure-Functions-InvocationId", uuid.NewString())
	resp := h.send(req)
	defer func() { _ = resp.Body.Close() }()
	h.statuses[resp.StatusCode]++
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return false
	}
	var reply struct {
		Outputs     map[string]any
		Logs        []string
		ReturnValue any
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		t.Errorf("the reply is %q", resp.Header.Get("Content-Type"))
	}
	return json.NewDecoder(resp.Body).Decode(&reply) == nil && reply.Outputs != nil
}

// inProcess returns a sender of requests that are handled without a network.
func (s *service) inProcess(req *http.Request) *http.Response {
	reply := httptest.NewRecorder()
	s.function.ServeHTTP(reply, req)
	return reply.Result()
}

func TestTheHostDeliversUntilAllWorkIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		work, late := newHost(t, s.acct, "work", s.inProcess), newHost(t, s.acct, "late", s.inProcess)
		for range 40 {
			assert.NoError(t, eventual.Enqueue(t.Context(), s.work, "letter.send", Letter{"Ken", "welcome"}, nil))
		}
		assert.NoError(t, eventual.Enqueue(t.Context(), s.work, "letter.send", Letter{"", "who?"}, nil))
		s.acct.Fault(storagetest.On("*").Nth(3).Times(storagetest.Forever).LoseRequest())
		_, _ = s.store.Insert(t.Context(), &Employee{"Sales", "456", "Kwok"})
		s.acct.ClearFaults()

		work.run(t, 20*time.Minute)
		if n := strings.Count(s.out.String(), "Dear Ken, welcome\n"); n != 40 || derived(t, s.store) != 1 {
			t.Errorf("%d letters, %d rows of the index", n, derived(t, s.store))
		}
		if work.statuses[http.StatusOK] < 42 || work.statuses[http.StatusInternalServerError] < 4 || len(work.statuses) != 2 {
			t.Errorf("statuses %v", work.statuses)
		}
		wantCount(t, s.work, 0)
		wantCount(t, s.acct.Queue("work-poison"), 1)
		wantCount(t, s.acct.Queue("work-late"), 1)
		late.run(t, 2*time.Hour)
		wantCount(t, s.acct.Queue("work-late"), 0)
	})
}

// The host dies after the handler was done: it delivers the message again when it is visible.
func TestTheHostDeliversAgainWhatItDidNotDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		assert.NoError(t, eventual.Enqueue(t.Context(), s.work, "letter.send", Letter{"Ken", "welcome"}, nil))
		first := newHost(t, s.acct, "work", s.inProcess)
		resp := assert.Must(first.queue.DequeueMessages(t.Context(), &azqueue.DequeueMessagesOptions{VisibilityTimeout: to.Ptr(int32(600))}))(t)
		if !first.invoke(t, resp.Messages[0]) {
			t.Error("the invocation failed")
		}
		second := newHost(t, s.acct, "work", s.inProcess)
		second.run(t, 20*time.Minute)
		if n := strings.Count(s.out.String(), "Dear Ken, welcome\n"); n != 2 {
			t.Errorf("%d letters", n)
		}
		wantCount(t, s.work, 0)
	})
}

// The host starts the program with a port in its environment, and asks for the root until anything answers. Then it invokes.
func TestTheProgramListensWhereTheHostAsksItTo(t *testing.T) {
	acct := storagetest.New(t)
	server := assert.Must(acct.Serve())(t)
	listener := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	port := listener.Addr().(*net.TCPAddr).Port
	assert.NoError(t, listener.Close())
	t.Setenv("AzureWebJobsStorage", server.ConnectionString())
	t.Setenv("FUNCTIONS_CUSTOMHANDLER_PORT", strconv.Itoa(port))
	go main() // until the end of the test program
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for ready := false; !ready; {
		assert.NoError(assert.Now(t), t.Context().Err())
		resp, err := http.Get("http://" + address + "/")
		if ready = err == nil; ready {
			assert.NoError(t, resp.Body.Close())
		}
	}
	queue := acct.Queue("work")
	assert.NoError(t, eventual.Enqueue(t.Context(), queue, "letter.send", Letter{"Ken", "welcome"}, nil))
	h := newHost(t, acct, "work", func(req *http.Request) *http.Response {
		req.URL.Host = address
		return assert.Must(http.DefaultClient.Do(req))(t)
	})
	resp := assert.Must(queue.DequeueMessage(t.Context(), nil))(t)
	h.deliver(t, resp.Messages[0])
	if h.statuses[http.StatusOK] != 1 {
		t.Errorf("statuses %v", h.statuses)
	}
	wantCount(t, queue, 0)
}
