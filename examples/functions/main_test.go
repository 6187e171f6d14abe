package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// service is the function, the host that calls it, and what it printed.
type service struct {
	acct     *storagetest.Account
	work     *azqueue.QueueClient
	store    *patterns.Store[Employee]
	function http.Handler
	post     func(body []byte) (status int)
	out      bytes.Buffer
}

// newService returns a service that is called without a network.
func newService(t *testing.T) *service {
	s := &service{acct: storagetest.New(t)}
	worker, store, err := newWorker(s.acct.Tables(), s.acct.Queue, &s.out)
	assert.NoError(t, err)
	assert.NoError(t, errors.Join(worker.Create(t.Context()), store.Create(t.Context())))
	s.work, s.store = worker.Queue(), store
	s.function = handler(worker)
	s.post = func(body []byte) int {
		reply := httptest.NewRecorder()
		s.function.ServeHTTP(reply, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/work", bytes.NewReader(body)))
		return reply.Code
	}
	return s
}

// serve lets the host call the service over HTTP.
func (s *service) serve(t *testing.T) {
	server := httptest.NewServer(s.function)
	t.Cleanup(server.Close)
	s.post = func(body []byte) int {
		reply := assert.Must(http.Post(server.URL+"/work", "application/json", bytes.NewReader(body)))(t)
		_ = reply.Body.Close()
		return reply.StatusCode
	}
}

// deliver does what the host does with the next message, and returns the status of the
// function. It makes a message that failed visible immediately.
func (s *service) deliver(t *testing.T, queue *azqueue.QueueClient) int {
	t.Helper()
	resp, err := queue.DequeueMessage(t.Context(), nil)
	if err != nil || len(resp.Messages) != 1 {
		t.Fatal(resp.Messages, err)
	}
	m := resp.Messages[0]
	text := assert.Must(base64.StdEncoding.DecodeString(*m.MessageText))(t)
	quoted := assert.Must(json.Marshal(string(text)))(t)
	body, err := json.Marshal(map[string]any{
		"Data":     map[string]any{"message": string(quoted)},
		"Metadata": map[string]any{"DequeueCount": fmt.Sprint(*m.DequeueCount), "Id": m.MessageID, "PopReceipt": m.PopReceipt},
	})
	assert.NoError(t, err)
	status := s.post(body)
	if status == http.StatusOK {
		_, err = queue.DeleteMessage(t.Context(), *m.MessageID, *m.PopReceipt, nil)
	} else {
		_, err = queue.UpdateMessage(t.Context(), *m.MessageID, *m.PopReceipt, *m.MessageText, &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr(int32(0))})
	}
	assert.NoError(t, err)
	return status
}

func wantCount(t *testing.T, queue *azqueue.QueueClient, want int32) {
	t.Helper()
	p, err := queue.GetProperties(t.Context(), nil)
	if err != nil || *p.ApproximateMessagesCount != want {
		t.Fatal(p, err)
	}
}

func TestTheFunctionSendsLettersAndKeepsThoseItCannotSend(t *testing.T) {
	s := newService(t)
	s.serve(t)
	for _, letter := range []Letter{{"Ken", "welcome"}, {"", "who?"}} {
		assert.NoError(t, eventual.Enqueue(t.Context(), s.work, "letter.send", letter, nil))
	}
	if status := s.deliver(t, s.work); status != 200 || s.out.String() != "Dear Ken, welcome\n" {
		t.Fatal(status, s.out.String())
	}
	for attempt := 1; attempt <= 5; attempt++ {
		if status := s.deliver(t, s.work); (status == 200) != (attempt == 5) {
			t.Fatal(attempt, status)
		}
	}
	wantCount(t, s.work, 0)
	wantCount(t, s.acct.Queue("work-poison"), 1)
}

func TestTheFunctionFinishesWhatAProcessLeftUnfinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		// The process dies when the employee is inserted, and the index is not yet changed.
		s.acct.Fault(storagetest.On("*").Nth(3).Times(storagetest.Forever).LoseRequest())
		_, _ = s.store.Insert(t.Context(), &Employee{"Sales", "456", "Kwok"})
		s.acct.ClearFaults()
		before := derived(t, s.store)
		time.Sleep(time.Minute) // until then the process may still be at work
		if status := s.deliver(t, s.work); status != 200 {
			t.Fatal(status)
		}
		if after := derived(t, s.store); before != 0 || after != 1 {
			t.Errorf("%d rows of the index, then %d", before, after)
		}
		wantCount(t, s.work, 0)

		late := s.acct.Queue("work-late")
		wantCount(t, late, 1)
		if peeked, err := late.PeekMessage(t.Context(), nil); err != nil || len(peeked.Messages) != 0 {
			t.Errorf("the message would keep an instance running: %v, %v", peeked.Messages, err)
		}
		time.Sleep(2 * time.Hour)
		if status := s.deliver(t, late); status != 200 {
			t.Fatal(status)
		}
		wantCount(t, late, 0)
	})
}

// derived returns the number of rows of the index.
func derived(t *testing.T, store *patterns.Store[Employee]) (n int) {
	t.Helper()
	for _, err := range store.Table().Query(t.Context(), query.PartitionKey.Eq("last_"+keys.Escape("Kwok")), nil) {
		assert.NoError(t, err)
		n++
	}
	return n
}

func TestAnInvocationWithoutAMessageIsRefusedAndChangesNothing(t *testing.T) {
	s := newService(t)
	for _, body := range []string{"no", "{}", `{"Data":{"other":"text"},"Metadata":{"DequeueCount":1}}`} {
		s.acct.ResetLog()
		if status := s.post([]byte(body)); status != http.StatusBadRequest || len(s.acct.Log()) != 0 {
			t.Errorf("%s: %d, %v", body, status, s.acct.Log().Ops())
		}
	}
}

func TestAMessageIsTheSameHoweverOftenTheHostQuotesIt(t *testing.T) {
	s := newService(t)
	text := `{"azp":1,"id":"op","kind":"letter.send","body":{"To":"Ken","Text":"welcome"}}`
	once, _ := json.Marshal(text)
	twice, _ := json.Marshal(string(once))
	for _, message := range []string{text, string(once), string(twice)} {
		s.out.Reset()
		status := s.post(fmt.Appendf(nil, `{"Data":{"message":%s},"Metadata":{"DequeueCount":1}}`, message))
		if status != http.StatusOK || s.out.String() != "Dear Ken, welcome\n" {
			t.Errorf("%s: %d, %q", message, status, s.out.String())
		}
	}
}

func TestTheFilesOfTheFunctionsNameWhatTheProgramReads(t *testing.T) {
	for folder, queue := range map[string]string{"work": "work", "late": "work-late"} {
		var function struct {
			Bindings []struct{ Type, Direction, Name, QueueName, Connection string }
		}
		read(t, folder+"/function.json", &function)
		if b := function.Bindings; len(b) != 1 || b[0].Type != "queueTrigger" || b[0].Direction != "in" || b[0].Name != "message" ||
			b[0].QueueName != queue || b[0].Connection != "AzureWebJobsStorage" {
			t.Errorf("%s: %+v", folder, b)
		}
	}
	var host struct {
		ExtensionBundle struct{ ID, Version string } // without it, the host knows no queue trigger
		CustomHandler   struct {
			Description struct{ DefaultExecutablePath string }
		}
		Extensions struct {
			Queues struct {
				MessageEncoding string
				MaxDequeueCount int
			}
		}
	}
	read(t, "host.json", &host)
	if host.ExtensionBundle.ID != "Microsoft.Azure.Functions.ExtensionBundle" || host.CustomHandler.Description.DefaultExecutablePath != "functions" ||
		host.Extensions.Queues.MessageEncoding != "base64" || host.Extensions.Queues.MaxDequeueCount <= 100 { // the attempts of an outbox message
		t.Errorf("got %+v", host)
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	assert.NoError(t, err)
}
