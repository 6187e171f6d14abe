package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/patterns"
)

const (
	pageRows  = 1000
	batchRows = 100
	rangeRows = 5000
	tableName = "Employees"
)

// canned is a transport and a server that answers every request with fixed bytes.
type canned struct {
	page, row, batch []byte
}

func newCanned() *canned { return &canned{Page(pageRows), cannedRow(), cannedBatch(batchRows)} }

func (c *canned) answer(path string) (status int, contentType string, body []byte) {
	switch {
	case strings.HasSuffix(path, "$batch"):
		return http.StatusAccepted, "multipart/mixed; boundary=batchresponse_4c637ba4", c.batch
	case strings.HasSuffix(path, "()"):
		return http.StatusOK, "application/json;odata=minimalmetadata;charset=utf-8", c.page
	}
	return http.StatusOK, "application/json;odata=minimalmetadata;charset=utf-8", c.row
}

// Do implements policy.Transporter.
func (c *canned) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		io.Copy(io.Discard, req.Body)
		req.Body.Close() // as net/http does
	}
	status, contentType, body := c.answer(req.URL.Path)
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: req, ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {contentType}, "Etag": {`W/"datetime'2026-01-02T03%3A04%3A05.0000001Z'"`}},
		Body:   io.NopCloser(bytes.NewReader(body)),
	}, nil
}

func (c *canned) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	io.Copy(io.Discard, req.Body)
	status, contentType, body := c.answer(req.URL.Path)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// service contains the clients of the service that a job uses.
type service struct {
	plain, accelerated *aztables.Client
	close              func()

	requests func() int // returns the number of requests since the last call; can be nil
}

func open(url string, key []byte, account string, opts *aztables.ClientOptions) (*service, error) {
	cred, err := aztables.NewSharedKeyCredential(account, string(key))
	if err != nil {
		return nil, err
	}
	p, err := aztables.NewServiceClientWithSharedKey(url, cred, opts)
	if err != nil {
		return nil, err
	}
	fast := accelerated()
	if opts != nil {
		fast.Transport = opts.Transport
		patterns.LimitReplies(&fast.ClientOptions)
	}
	a, err := aztables.NewServiceClientWithSharedKey(url, cred, fast)
	if err != nil {
		return nil, err
	}
	return &service{plain: p.NewClient(tableName), accelerated: a.NewClient(tableName), close: func() {}}, nil
}

const fakeKey = "YXpwYXR0ZXJucyBiZW5jaG1hcmsga2V5" // base64 of text that is not secret

func inProcess(context.Context) (*service, error) {
	opts := &aztables.ClientOptions{}
	opts.Transport = newCanned()
	return open("https://account.table.core.windows.net", []byte(fakeKey), "account", opts)
}

func overHTTP(context.Context) (*service, error) {
	server := httptest.NewServer(newCanned())
	s, err := open(server.URL, []byte(fakeKey), "account", nil)
	if err != nil {
		server.Close()
		return nil, err
	}
	s.close = server.Close
	return s, nil
}

// onAzurite returns a function that opens a real Azurite with a new table of this many
// rows. Azurite gets slower with every row that it contains, so close drops the table.
func onAzurite(rows int) func(context.Context) (*service, error) {
	return func(ctx context.Context) (*service, error) {
		a, err := azurite.Start(ctx, nil)
		if err != nil {
			return nil, err
		}
		p, err := aztables.NewServiceClientFromConnectionString(a.ConnectionString(), nil)
		if err != nil {
			return nil, err
		}
		q, err := aztables.NewServiceClientFromConnectionString(a.ConnectionString(), accelerated())
		if err != nil {
			return nil, err
		}
		name := "Bench" + rand.Text()
		s := &service{plain: p.NewClient(name), accelerated: q.NewClient(name)}
		table, err := patterns.NewTable[Employee](s.accelerated, nil)
		if err != nil {
			return nil, err
		}
		s.close = func() {
			_ = table.Drop(context.WithoutCancel(ctx)) // if it fails, Azurite ends soon anyway
			a.Close()
		}
		if err := table.Create(ctx); err != nil {
			return nil, err
		}
		_, err = table.Bulk(ctx, inserts(rows), nil)
		return s, err
	}
}
