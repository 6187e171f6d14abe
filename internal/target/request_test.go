package target

import (
	"fmt"
	"github.com/azpatterns/azpatterns/internal/assert"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

type body struct{ *strings.Reader }

func (body) Close() error { return nil }

func request(method, address, content string) *http.Request {
	req, err := http.NewRequest(method, address, nil)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Accept", "application/json;odata=minimalmetadata")
	if content != "" {
		req.Body = body{strings.NewReader(content)}
	}
	return req
}

const service = "https://account.table.core.windows.net"

// transaction returns the body of a transaction of n operations.
func transaction(n, size int, operation, entity string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "--changeset\r\nContent-Type: application/http\r\n\r\n%s HTTP/1.1\r\nAccept: application/json\r\n\r\n", operation)
		fmt.Fprintf(&b, `{"A":"%s",%s,"RowKey":"%d"}`+"\r\n", strings.Repeat("x", size), entity, i)
	}
	return b.String()
}

func TestAPartitionHasTheSameTextInEveryRequest(t *testing.T) {
	const partition = "O'Brien \u00e9%2"
	address := url.PathEscape(strings.ReplaceAll(partition, "'", "''"))
	filter := url.QueryEscape("PartitionKey eq 'O''Brien \u00e9%2' and Age gt 3")
	entity := `"PartitionKey":"O'Brien \u00e9%2"`
	for name, c := range map[string]struct {
		req      *http.Request
		kind     Action
		entities int
	}{
		"point read":   {request("GET", service+"/people(PartitionKey='"+address+"',RowKey='1')", ""), Read, 1},
		"delete":       {request("DELETE", service+"/people(PartitionKey='"+address+"',RowKey='1')", ""), Write, 1},
		"query":        {request("GET", service+"/people()?$filter="+filter, ""), Query, 0},
		"insert":       {request("POST", service+"/people", `{"Age":3,`+entity+`,"RowKey":"1"}`), Write, 1},
		"large insert": {request("POST", service+"/people", `{"A":"`+strings.Repeat("x", 70_000)+`",`+entity+`,"RowKey":"1"}`), Write, 1},
		"batch":        {request("POST", service+"/$batch", transaction(100, 200, "PUT "+service+"/people(PartitionKey='"+address+"',RowKey='1')", entity)), Batch, 100},
		"insert batch": {request("POST", service+"/$batch", transaction(100, 40_000, "POST "+service+"/people", entity)), Batch, 100},
		"small batch":  {request("POST", service+"/$batch", transaction(3, 0, "POST "+service+"/people", entity)), Batch, 3},
	} {
		r := NewRequest()
		for range 2 { // also after another request
			r.Read(c.req)
			assert.Equal(t, string(r.In(r.Partition)), "tpeople\x00"+partition, name)
			assert.Equal(t, r.Kind, c.kind, name)
			assert.Equal(t, r.Entities, c.entities, name)
			if (len(r.Rows)-1)*r.Every >= max(c.entities, 1) || len(r.Rows)*r.Every < c.entities {
				t.Errorf("%s: %d rows, one of %d", name, len(r.Rows), r.Every)
			}
			assert.Equal(t, r.Account, "account", name, "account")
		}
	}
}

// The end of an operation's line may be divided between two reads of the body.
func TestEveryOperationOfATransactionIsCountedWhateverItsSize(t *testing.T) {
	r := NewRequest()
	for size := range 600 {
		r.Read(request("POST", service+"/$batch", transaction(100, size, "POST "+service+"/people", `"PartitionKey":"p"`)))
		assert.Equal(assert.Now(t), r.Entities, 100, "operations of", size, "bytes")
	}
}

func TestABodyIsRewoundAndOthersAreNotRead(t *testing.T) {
	req := request("POST", service+"/people", `{"PartitionKey":"p"}`)
	NewRequest().Read(req)
	if text, err := io.ReadAll(req.Body); err != nil || string(text) != `{"PartitionKey":"p"}` {
		t.Errorf("%q, %v", text, err)
	}
	req.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"PartitionKey":"p"}`)))
	r := NewRequest()
	r.Read(req)
	if text, err := io.ReadAll(req.Body); err != nil || len(text) == 0 || r.Partition != (TextSpan{}) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestQueuesBlobsAndEmulatorsHavePartitions(t *testing.T) {
	for _, c := range []struct{ method, address, account, partition, resource string }{
		{"POST", "https://a.queue.core.windows.net/jobs/messages", "a", "", "qjobs"},
		{"GET", "https://a.blob.core.windows.net/box/x/y", "a", "bbox\x00x/y", "bbox"},
		{"POST", "http://127.0.0.1:10001/dev/jobs/messages", "dev", "", "qjobs"},
		{"GET", "http://127.0.0.1:10002/dev/people(PartitionKey='p',RowKey='r')", "dev", "tpeople\x00p", "tpeople"},
	} {
		req := request(c.method, c.address, "")
		if !strings.Contains(c.address, "people") {
			req.Header.Set("Accept", "application/xml")
		}
		r := NewRequest()
		r.Read(req)
		if string(r.In(r.Partition)) != c.partition || string(r.In(r.Resource)) != c.resource || r.Account != c.account {
			t.Errorf("%s: %q, %q, %q", c.address, r.In(r.Partition), r.In(r.Resource), r.Account)
		}
	}
}

type counted struct{ rows, pages int64 }

func (c *counted) Page(rows, _ int64) { c.rows += rows; c.pages++ }

func TestTheRowsOfAPageAreCountedOnceHoweverItIsRead(t *testing.T) {
	for _, c := range []struct {
		kind Action
		text string
	}{
		{Query, `{"odata.metadata":"x","value":[{"PartitionKey":"p"},{"PartitionKey":"{"},{"PartitionKey":"q"}]}`},
		{Poll, `<L><M><InsertionTime>1</InsertionTime></M><M><InsertionTime>2</InsertionTime></M><M><InsertionTime/></M></L>`},
	} {
		for size := range 20 {
			resp := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(c.text))}
			got := new(counted)
			r := &Request{requestContent: requestContent{Kind: c.kind}}
			if !r.Wrap(resp, got) {
				t.Fatal("not wrapped")
			}
			buf := make([]byte, size+1)
			for err := error(nil); err == nil; {
				_, err = resp.Body.Read(buf)
			}
			resp.Body.Close()
			resp.Body.Close()
			if got.pages != 1 || got.rows < 3 || got.rows > 4 { // a value that ends with { counts as well
				t.Errorf("read by %d bytes: %d rows, reported %d times", size+1, got.rows, got.pages)
			}
		}
	}
	if NewRequest().Wrap(&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil) {
		t.Error("a point read was wrapped")
	}
}

func TestServicesAndEmulatorsAreDistinguished(t *testing.T) {
	for _, c := range []struct {
		method, url, accept string
		kind                Action
		resource            string
		partition           string
	}{
		{http.MethodGet, "https://a.table.core.windows.net/Orders(PartitionKey='x',RowKey='y')", "", Read, "tOrders", "tOrders\x00x"},
		{http.MethodDelete, "http://127.0.0.1:1/acct/Orders(PartitionKey='x',RowKey='y')", "application/json", Write, "tOrders", "tOrders\x00x"},
		{http.MethodPost, "http://127.0.0.1:1/acct/Tables", "application/json", Other, "tTables", ""},
		{http.MethodGet, "https://a.queue.core.windows.net/jobs/messages?numofmessages=1", "application/xml", Poll, "qjobs", ""},
		{http.MethodDelete, "http://127.0.0.1:1/acct/jobs/messages/id?popreceipt=x", "application/xml", Write, "qjobs", ""},
		{http.MethodPut, "https://a.queue.core.windows.net/jobs", "", Other, "qjobs", ""},
		{http.MethodGet, "https://a.blob.core.windows.net/photos/2026/01.jpg", "", Read, "bphotos", "bphotos\x002026/01.jpg"},
		{http.MethodPut, "http://127.0.0.1:1/acct/photos/2026/01.jpg?comp=block", "application/xml", Write, "bphotos", "bphotos\x002026/01.jpg"},
		{http.MethodPut, "https://a.blob.core.windows.net/photos?restype=container", "application/xml", Other, "bphotos", ""},
	} {
		req := assert.Must(http.NewRequest(c.method, c.url, nil))(t)
		req.Header.Set("Accept", c.accept)
		r := NewRequest()
		r.Read(req)
		if r.Kind != c.kind || string(r.In(r.Resource)) != c.resource || string(r.In(r.Partition)) != c.partition {
			t.Errorf("%s: %d %q %q", c.url, r.Kind, r.In(r.Resource), r.In(r.Partition))
		}
	}
}

func TestAPropertyWhoseNameEndsLikeAKeyIsNotTheKey(t *testing.T) {
	req := assert.Must(http.NewRequest(http.MethodPost, "https://a.table.core.windows.net/Orders", nil))(t)
	req.Body = body{strings.NewReader(`{"MyPartitionKey":"x","MyRowKey":"y","Z":"\"RowKey\":\"z\"","PartitionKey":"a","RowKey": "b\u0026"}`)}
	r := NewRequest()
	r.Read(req)
	assert.Equal(assert.Now(t), len(r.Rows), 1)
	assert.Equal(t, string(r.In(r.Rows[0])), "tOrders\x00a\x00b&")
}
