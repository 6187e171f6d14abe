package storagetest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	blobsas "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	queuesas "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// passes returns signatures that permit everything in the three services, so that a hostile
// request reaches its service.
func passes(tb testing.TB) map[string]string {
	tb.Helper()
	tables := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(tb)
	table, err := aztables.AccountSASSignatureValues{
		Protocol: aztables.SASProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(24 * time.Hour),
		Services: "t", ResourceTypes: "sco", Permissions: "rwdlau",
	}.Sign(tables)
	assert.NoError(tb, err)
	blobKey := assert.Must(azblob.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(tb)
	blob, err := blobsas.AccountSignatureValues{
		Protocol: blobsas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(24 * time.Hour),
		ResourceTypes: "sco", Permissions: "rwdlacu",
	}.SignWithSharedKey(blobKey)
	assert.NoError(tb, err)
	queueKey := assert.Must(azqueue.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(tb)
	queue, err := queuesas.AccountSignatureValues{
		Protocol: queuesas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(24 * time.Hour),
		ResourceTypes: "sco", Permissions: "rwdlacup",
	}.SignWithSharedKey(queueKey)
	assert.NoError(tb, err)
	return map[string]string{"table": table.Encode(), "blob": blob.Encode(), "queue": queue.Encode()}
}

// furnished returns an account with the table people, the queue jobs and the container box,
// which contain a row, a message, a block blob and an append blob.
func furnished(tb testing.TB) *storagetest.Account {
	tb.Helper()
	acct := storagetest.Start(nil)
	ctx := tb.Context()
	people := acct.Tables().NewClient("people")
	_, e1 := people.CreateTable(ctx, nil)
	_, e2 := people.UpsertEntity(ctx, []byte(`{"PartitionKey":"p","RowKey":"r","N":1}`), nil)
	_, e3 := acct.Queue("jobs").Create(ctx, nil)
	_, e4 := acct.Queue("jobs").EnqueueMessage(ctx, "work", nil)
	_, e5 := acct.Container("box").Create(ctx, nil)
	_, e6 := acct.Container("box").NewAppendBlobClient("log").Create(ctx, nil)
	_, e7 := acct.Container("box").NewBlockBlobClient("b").UploadBuffer(ctx, []byte("0123456789"), nil)
	assert.NoError(tb, errors.Join(e1, e2, e3, e4, e5, e6, e7))
	acct.ResetLog()
	return acct
}

// hostile is one request that no SDK sends.
type hostile struct {
	service, method, target string
	headers                 string // one for each line
	body                    []byte
	length                  int64 // declared; -1 if not declared
}

// handled reports whether the handler replied. Without rules, it aborts only requests that the
// transport does not send.
func handled(h http.Handler, w http.ResponseWriter, r *http.Request) (ok bool) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler {
			panic(v)
		}
	}()
	h.ServeHTTP(w, r)
	return true
}

// hit sends h to the handler, as a server would, and fails the test for a reply that the
// service would not send.
func hit(tb testing.TB, acct *storagetest.Account, pass string, h hostile) *httptest.ResponseRecorder {
	tb.Helper()
	u, err := url.ParseRequestURI("/" + strings.TrimPrefix(h.target, "/"))
	if err != nil {
		return nil // a server does not pass such a request to its handler
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += pass
	header := http.Header{}
	for line := range strings.SplitSeq(h.headers, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			header.Add(name, strings.TrimSpace(value))
		}
	}
	r := (&http.Request{
		Method: h.method, URL: u, RequestURI: u.RequestURI(), Host: storagetest.AccountName + "." + h.service + ".example",
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(bytes.NewReader(h.body)), ContentLength: h.length,
	}).WithContext(tb.Context())
	w := httptest.NewRecorder()
	if !handled(acct.Handler(), w, r) {
		return nil // a server does not pass headers that net/http refuses, either
	}
	code := w.Header().Get("X-Ms-Error-Code")
	text := w.Body.String()
	switch {
	case w.Code < 200 || w.Code > 599 || w.Code >= 500 && w.Code != http.StatusNotImplemented:
		tb.Errorf("%s %s %s: status %d\n%s", h.service, h.method, h.target, w.Code, text)
	case w.Code >= 400 && h.method != http.MethodHead && code == "" && !strings.Contains(text, "odata.error") && !strings.Contains(text, "<code>"):
		tb.Errorf("%s %s %s: status %d without a code\n%s", h.service, h.method, h.target, w.Code, text)
	}
	return w
}

// FuzzHandler sends arbitrary requests to the three services of a handler. The reply must
// have a status and an error code of the service, and the handler must not panic.
func FuzzHandler(f *testing.F) {
	const sixty = "<QueueMessage><MessageText>x</MessageText></QueueMessage>"
	for _, h := range []hostile{
		{"table", "GET", "/people()?$filter=N eq 1&$top=5", "Accept: application/json;odata=fullmetadata", nil, 0},
		{"table", "POST", "/people", "Content-Type: application/json\nPrefer: return-no-content", []byte(`{"PartitionKey":"p","RowKey":"n"}`), 33},
		{"table", "PUT", "/people(PartitionKey='p',RowKey='r')", "If-Match: *", []byte(`{"A":`), 5},
		{"table", "MERGE", "/people(PartitionKey='p',RowKey='r')", "If-Match: W/\"datetime'x'\"", []byte(`{}`), 999},
		{"table", "POST", "/$batch", "Content-Type: multipart/mixed; boundary=b", []byte("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nPOST /people HTTP/1.1\r\n\r\n{}\r\n--c--\r\n--b--"), -1},
		{"table", "POST", "/$batch", "Content-Type: multipart/mixed", []byte("--"), 2},
		{"table", "PUT", "/people?comp=acl", "", []byte("<SignedIdentifiers><SignedIdentifier>"), 36},
		{"queue", "POST", "/jobs/messages?visibilitytimeout=99999999999999999999&messagettl=-1", "", []byte(sixty), int64(len(sixty))},
		{"queue", "GET", "/jobs/messages?numofmessages=32&visibilitytimeout=1", "x-ms-version: 9999-99-99", nil, 0},
		{"queue", "PUT", "/jobs/messages/id?popreceipt=%ff&visibilitytimeout=0", "", []byte("<!DOCTYPE x [<!ENTITY a \"b\">]><QueueMessage/>"), 44},
		{"queue", "PUT", "/jobs?comp=metadata", "x-ms-meta-: \nx-ms-meta-a b: c", nil, 0},
		{"blob", "PUT", "/box/b?comp=block&blockid=AAAA", "Content-MD5: x", []byte("x"), 1},
		{"blob", "PUT", "/box/b?comp=blocklist", "x-ms-content-crc64: AAAA", []byte("<BlockList><Latest>AAAA</Latest></BlockList>"), 44},
		{"blob", "PUT", "/box/log?comp=appendblock", "x-ms-blob-condition-appendpos: -1", []byte("x"), 1 << 40},
		{"blob", "GET", "/box/b", "Range: bytes=18446744073709551615-0\nIf-None-Match: *", nil, 0},
		{"blob", "GET", "/box?restype=container&comp=list&marker=%00&maxresults=-9&delimiter=%2F", "", nil, 0},
		{"blob", "PUT", "/box/b?comp=lease", "x-ms-lease-action: acquire\nx-ms-lease-duration: 99999999999999999999", nil, 0},
		{"blob", "PUT", "/box/c", "x-ms-copy-source: http://[::1", nil, 0},
		{"blob", "TRACE", "//", "Host: \nContent-Length: -1\nTransfer-Encoding: gzip", nil, -1},
	} {
		f.Add(h.service, h.method, h.target, h.headers, h.body, h.length)
	}
	pass := passes(f)
	f.Fuzz(func(t *testing.T, service, method, target, headers string, body []byte, length int64) {
		if _, ok := pass[service]; !ok {
			service = [...]string{"table", "queue", "blob"}[len(service)%3]
		}
		hit(t, furnished(t), pass[service], hostile{service, method, target, headers, body, max(length, -1)})
	})
}

func TestHostileRequestsAreRefusedWithStatusAndCode(t *testing.T) {
	acct := furnished(t)
	pass := passes(t)
	long := strings.Repeat("x", 70_000)
	for _, c := range []struct {
		hostile
		status int
		code   string
	}{
		{hostile{"table", "POST", "/people", "Content-Type: application/json", bytes.Repeat([]byte(" "), 5<<20), 5 << 20}, 413, "RequestBodyTooLarge"},
		{hostile{"table", "POST", "/people", "Content-Type: application/json", []byte(`{"PartitionKey":"p","RowKey":"x"}`), 10_000_000_000}, 413, "RequestBodyTooLarge"},
		{hostile{"table", "POST", "/people", "Content-Type: application/json", []byte(strings.Repeat(`{"A":`, 100_000)), 500_000}, 400, "InvalidInput"},
		{hostile{"table", "GET", "/people()?$filter=" + strings.Repeat("(", 20_000), "", nil, 0}, 400, "InvalidInput"},
		{hostile{"table", "GET", "/people()?$filter=N%20eq%201" + strings.Repeat("%20and%20not%20(N%20eq%201", 3_000), "", nil, 0}, 400, "InvalidInput"},
		{hostile{"table", "GET", "/people()?$select=" + strings.Repeat("A,", 30_000), "", nil, 0}, 400, "InvalidInput"},
		{hostile{"table", "POST", "/$batch", "Content-Type: multipart/mixed; boundary=" + long, []byte("--"), 2}, 400, "InvalidInput"},
		{hostile{"table", "POST", "/$batch", "Content-Type: text/plain", []byte("--"), 2}, 400, "InvalidInput"},
		{hostile{"table", "GET", "/" + long, "", nil, 0}, 404, "TableNotFound"},
		{hostile{"table", "BREW", "/people", "", nil, 0}, 405, "MethodNotAllowed"},
		{hostile{"queue", "POST", "/jobs/messages", "", bytes.Repeat([]byte("x"), 2<<20), 2 << 20}, 413, "RequestBodyTooLarge"},
		{hostile{"queue", "POST", "/jobs/messages", "", []byte(strings.Repeat("<QueueMessage>", 10_000)), 140_000}, 400, "InvalidXmlDocument"},
		{hostile{"queue", "POST", "/jobs/messages", "", []byte("<QueueMessage><MessageText>\x00</MessageText></QueueMessage>"), 57}, 400, "InvalidXmlDocument"},
		{hostile{"queue", "POST", "/jobs/messages", "", []byte("<QueueMessage><MessageText>x</MessageText></QueueMessage>"), 56}, 400, "InvalidInput"},
		{hostile{"queue", "POST", "/jobs/messages", "", []byte("<QueueMessage><MessageText>x</MessageText></QueueMessage>"), 58}, 400, "InvalidInput"},
		{hostile{"queue", "GET", "/" + long + "/messages", "", nil, 0}, 400, "OutOfRangeInput"},
		{hostile{"queue", "PUT", "/jobs?comp=metadata", "x-ms-meta-a: " + long, nil, 0}, 400, "MetadataTooLarge"},
		{hostile{"queue", "BREW", "/jobs", "", nil, 0}, 403, "AuthorizationFailure"},
		{hostile{"blob", "PUT", "/box/new", "x-ms-blob-type: BlockBlob", []byte("x"), 6_000_000_000}, 413, "RequestBodyTooLarge"},
		{hostile{"blob", "PUT", "/box/new", "x-ms-blob-type: BlockBlob", []byte("x"), 100}, 400, "InvalidInput"},
		{hostile{"blob", "PUT", "/box/new", "x-ms-blob-type: BlockBlob", []byte("xyz"), 2}, 400, "InvalidInput"},
		{hostile{"blob", "PUT", "/box/log?comp=appendblock", "", []byte("x"), 5 << 30}, 413, "RequestBodyTooLarge"},
		{hostile{"blob", "GET", "/box/b", "Range: bytes=99999999999999999999-", nil, 0}, 200, ""},
		{hostile{"blob", "GET", "/box/b", "If-Modified-Since: " + long, nil, 0}, 400, "InvalidHeaderValue"},
		{hostile{"blob", "BREW", "/box/b", "", nil, 0}, 403, "AuthorizationFailure"},
	} {
		name := fmt.Sprintf("%s %s %.60s", c.service, c.method, c.target)
		w := hit(t, acct, pass[c.service], c.hostile)
		if w == nil {
			t.Errorf("%s: no reply", name)
			continue
		}
		if w.Code != c.status || c.code != "" && !strings.Contains(w.Header().Get("X-Ms-Error-Code")+w.Body.String(), c.code) {
			t.Errorf("%s, %d bytes declared: %d %s %.200s, want %d %s", name, c.length, w.Code, w.Header().Get("X-Ms-Error-Code"), w.Body, c.status, c.code)
		}
	}
}
