package storagetest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error { *c.closed = true; return nil }

func TestTheBodyOfARequestThatIsNotSentIsClosed(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule storagetest.Rule
		gone bool // the context has already ended
	}{
		{"gone", storagetest.On("*").Delay(0), true},
		{"gone while it waits", storagetest.On("*").Delay(time.Hour), false},
		{"lost", storagetest.On("*").LoseRequest(), false},
		{"refused", storagetest.On("*").Status(503, "ServerBusy"), false},
	} {
		tr := storagetest.Wrap(&service{}, nil)
		script(t, tr, tt.rule)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if tt.gone {
			cancel()
		}
		closed := false
		req := assert.Must(http.NewRequestWithContext(ctx, http.MethodPost, base+"/$batch", closing{strings.NewReader("--b"), &closed}))(t)
		_, _ = tr.Do(req) // some return an error
		cancel()
		if !closed {
			t.Errorf("%s: the body is not closed", tt.name)
		}
	}
}

func TestRulesApplyToTheTableOfABatchAndOfACreate(t *testing.T) {
	const azurite = "http://127.0.0.1:10002/devstoreaccount1"
	batch := func(to string) string {
		return "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n--changeset_1\r\nContent-Type: application/http\r\n" +
			"Content-Transfer-Encoding: binary\r\n\r\n" + to + " HTTP/1.1\r\n\r\n" + strings.Repeat("x", 5000) + "\r\n--changeset_1--\r\n--batch_1--\r\n"
	}
	for _, tt := range []struct{ at, body, resource string }{
		{base + "/$batch", batch("POST " + base + "/People"), "People"},
		{base + "/$batch", batch("PATCH " + base + "/People(PartitionKey='p',RowKey='r')"), "People"},
		{azurite + "/$batch", batch("DELETE " + azurite + "/People(PartitionKey='p',RowKey='r')"), "People"},
		{azurite + "/$batch", batch("GET " + azurite + "/People?$filter=x"), "People"},
		{base + "/$batch", batch("PATCH " + base + "/People(PartitionKey='" + strings.Repeat("%20", 500) + "',RowKey='r')"), "People"},
		{base + "/$batch", batch("PATCH " + base + "/People(PartitionKey='" + "x" + strings.Repeat("%20", 500) + "',RowKey='r')"), "People"},
		{base + "/$batch", batch("PATCH " + base + "/People(PartitionKey='" + "xx" + strings.Repeat("%20", 500) + "',RowKey='r')"), "People"},
		{base + "/$batch", batch("PUT http://%zz/People"), ""},
		{base + "/$batch", "garbage", ""},
		{base + "/Tables", `{"TableName":"People"}`, "People"},
		{azurite + "/Tables", `{"TableName":`, ""},
	} {
		s := &service{}
		tr := storagetest.Wrap(s, nil)
		script(t, tr, storagetest.On("*").Resource("people").Nth(2).Status(503, "ServerBusy"))
		for range 2 {
			assert.NoError(t, assert.ErrorOf(send(t, tr, "POST", tt.at, tt.body)))
		}
		log := tr.Log()
		assert.Equal(t, log[0].Resource, tt.resource)
		assert.Equal(t, log[1].Status == 503, tt.resource != "")
		if s.sent[0] != tt.body {
			t.Errorf("%d bytes arrived of %d", len(s.sent[0]), len(tt.body))
		}
	}
}

func TestAWhereReceivesTheRowsOfAnInsertAndOfABatch(t *testing.T) {
	const azurite = "http://127.0.0.1:10002/devstoreaccount1"
	part := func(request, body string) string {
		return "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + request + " HTTP/1.1\r\nAccept: application/json\r\n\r\n" + body + "\r\n"
	}
	batch := func(to string) string {
		return "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n" +
			part("POST "+to+"/People", `{"A":"`+strings.Repeat("x", 5000)+`","PartitionKey":"o'n","RowKey":"{1}"}`) +
			part("PATCH "+to+"/People(PartitionKey='o''n',RowKey='a%20b')", `{"PartitionKey":"other","RowKey":"other"}`) +
			part("DELETE "+to+"/People(PartitionKey='o''n',RowKey='')", "") + "--changeset_1--\r\n--batch_1--\r\n"
	}
	three := []keys.Key{{Partition: "o'n", Row: "{1}"}, {Partition: "o'n", Row: "a b"}, {Partition: "o'n", Row: ""}}
	for _, tt := range []struct {
		at, body string
		rows     []keys.Key
	}{
		{base + "/People", `{"A":1,"PartitionKey":"p","RowKey":"r"}`, []keys.Key{{Partition: "p", Row: "r"}}},
		{base + "/People", `{"PartitionKey":"p"}`, nil},
		{base + "/People", `{"PartitionKey":1,"RowKey":2}`, nil},
		{base + "/People", `no JSON`, nil},
		{base + "/People", "", nil},
		{base + "/$batch", batch(base), three},
		{azurite + "/$batch", batch(azurite), three},
	} {
		s := &service{}
		tr := storagetest.Wrap(s, nil)
		var seen []keys.Key
		script(t, tr, storagetest.On("Table.*").Where(func(q storagetest.Request) bool { seen = q.Rows; return false }))
		assert.NoError(t, assert.ErrorOf(send(t, tr, http.MethodPost, tt.at, tt.body)))
		assert.EqualSlices(t, seen, tt.rows, tt.at, tt.body)
		if s.sent[0] != tt.body {
			t.Errorf("%d bytes arrived of %d", len(s.sent[0]), len(tt.body))
		}
	}
}

func TestABodyThatCannotBeReadIsNotTruncated(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/$batch", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("--batch"))))
	assert.NoError(t, err)
	assert.Equal(t, assert.ErrorOf(storagetest.Wrap(&service{}, nil).Do(req)), iotest.ErrTimeout)
}
