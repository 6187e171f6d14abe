package table

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// FuzzRequest sends arbitrary requests to the service. The reply must have a status and an
// error body of the service, and must not be an internal error.
func FuzzRequest(f *testing.F) {
	const entity = `{"PartitionKey":"p","RowKey":"r","A":1}`
	f.Add("GET", "/T12()", "$filter=A eq 1&$top=5&$select=A,B", "application/json;odata=fullmetadata", "", []byte(nil))
	f.Add("GET", "/T12(PartitionKey='p',RowKey='r')", "", "", "", []byte(nil))
	f.Add("PUT", "/T12(PartitionKey='p',RowKey='r')", "", "", `W/"datetime'x'"`, []byte(entity))
	f.Add("POST", "/T12", "timeout=5", "application/json", "", []byte(entity))
	f.Add("MERGE", "/T12(RowKey='r',PartitionKey='p')", "", "", "*", []byte(entity))
	f.Add("DELETE", "/Tables('T12')", "", "", "", []byte(nil))
	f.Add("PUT", "/T12", "comp=acl", "", "", []byte(`<SignedIdentifiers/>`))
	f.Add("PUT", "/", "restype=service&comp=properties", "", "", []byte(`<StorageServiceProperties/>`))
	f.Add("GET", "/Tables", "NextTableName=1!4!YQ==&$filter=TableName ge 'a'", "*/*", "", []byte(nil))
	f.Add("GET", "/T12()", "NextPartitionKey=1!4!YQ==&NextRowKey=1!0!", "", "", []byte(nil))
	f.Fuzz(func(t *testing.T, method, path, query, accept, ifMatch string, body []byte) {
		s := New(request.Page{})
		if err := s.create("T12", time.Now()); err != nil {
			t.Fatal(err)
		}
		seed := new(table).newRow("p", "r", s.clock.next(time.Now()), nil)
		s.tables["t12"].rows.put(seed)
		r := &http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "acct.table.example",
			Header: http.Header{"Accept": {accept}, "If-Match": {ifMatch}, "Content-Type": {"application/json"}},
			Body:   http.NoBody,
		}
		if len(body) > 0 {
			r = r.WithContext(t.Context())
			r.Body, r.ContentLength = nopCloser{bytes.NewReader(body)}, int64(len(body))
		}
		w := httptest.NewRecorder()
		serve(s, w, r)
		switch b := w.Body.Bytes(); {
		case w.Code >= 500 && w.Code != http.StatusNotImplemented:
			t.Fatalf("%d %s", w.Code, b)
		case w.Code == http.StatusNoContent && len(b) > 0:
			t.Fatalf("204 with a body: %s", b)
		case strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(b):
			t.Fatalf("%d is not JSON: %s", w.Code, b)
		case w.Code >= 400 && len(b) == 0:
			t.Fatalf("%d without a body", w.Code)
		}
	})
}

type nopCloser struct{ *bytes.Reader }

func (nopCloser) Close() error { return nil }
