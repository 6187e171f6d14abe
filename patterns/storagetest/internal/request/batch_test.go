package request_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// batch returns a batch request to Azurite with that body.
func batch(t *testing.T, contentType, body string) *request.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:10002/devstoreaccount1/$batch", strings.NewReader(body))
	assert.NoError(t, err)
	req.Header.Set("Content-Type", contentType)
	r, _ := new(request.Parser).Parse(req)
	return r
}

func TestTheOperationsOfABatchAreParsedAsRequests(t *testing.T) {
	const base = "http://127.0.0.1:10002/devstoreaccount1"
	body := "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
	for i, part := range []string{
		"POST " + base + "/People HTTP/1.1\r\n\r\n" + `{"PartitionKey":"p","RowKey":"1"}`,
		"PATCH " + base + "/People(PartitionKey='p',RowKey='2') HTTP/1.1\r\nIf-Match: *\r\n\r\n{}",
		"POST /People(PartitionKey='p',RowKey='3') HTTP/1.1\r\nX-HTTP-Method: DELETE\r\n\r\n",
		"GET " + base + "/People(PartitionKey='p',RowKey='4') HTTP/1.1\r\n\r\n",
		"PUT " + base + "/People HTTP/1.1\r\n\r\n{}",
	} {
		body += fmt.Sprintf("--c\r\nContent-Type: application/http\r\nContent-ID: %d\r\n\r\n%s\r\n", i, part)
	}
	r := batch(t, "multipart/mixed; boundary=b", body+"--c--\r\n--b--\r\n")
	if r.Op != op.TableBatch || r.Batch.Refusal != nil || !r.Batch.Changes || r.Resource != "People" || fmt.Sprint(r.Rows) != "[{p 1} {p 2} {p 3} {p 4}]" {
		t.Fatalf("%+v %+v", r, r.Batch)
	}
	var got []string
	for i, part := range r.Batch.Parts {
		got = append(got, fmt.Sprint(r.Batch.IDs[i], " ", part.Op, " ", part.Refusal == nil))
	}
	assert.Equal(t, fmt.Sprint(got), "[0 Table.Insert true 1 Table.Merge true 2 Table.Delete true 3 Table.Other false 4 Table.Other false]", got)
}

func TestAMalformedBatchIsParsedAsABatch(t *testing.T) {
	for _, tt := range [][2]string{
		{"application/json", "{}"}, {"multipart/mixed; boundary=b", ""}, {"multipart/mixed; boundary=b", "--b--"}, {"multipart/mixed", "--b"},
	} {
		if r := batch(t, tt[0], tt[1]); r.Op != op.TableBatch || r.Batch == nil || r.Batch.Refusal == nil || r.Resource != "" || r.Rows != nil {
			t.Errorf("%q: %+v", tt, r)
		}
	}
}
