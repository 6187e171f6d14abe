package heat

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// endless is a body that can be rewound after it was closed.
type endless struct{ *strings.Reader }

func (endless) Close() error { return nil }

func FuzzRequest(f *testing.F) {
	f.Add("POST", "/$batch", "", "PUT https://a/T(PartitionKey='a',RowKey='b') HTTP/1.1\r\n\r\n{\"RowKey\":\"x\\u00e9\"}")
	f.Add("GET", "/T()", "%24filter=PartitionKey%20eq%20%27a", "")
	f.Add("POST", "/T", "", `{"PartitionKey":"a\\","RowKey": "b"}`)
	f.Fuzz(func(t *testing.T, method, path, rawQuery, body string) {
		m := newMeter(nil)
		r := m.requests.Get().(*request)
		req := &http.Request{Method: method, URL: &url.URL{Host: "a.table.b", Path: path, RawQuery: rawQuery}, Header: http.Header{}}
		reader := endless{strings.NewReader(body)}
		req.Body = reader
		r.Read(req)
		assert.Equal(t, reader.Len(), len(body), "the body was not rewound")
		r.finish(0, 0, &http.Response{StatusCode: 200}, nil)
		m.record(r)
		m.Snapshot()
	})
}
