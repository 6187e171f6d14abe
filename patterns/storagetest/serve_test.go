package storagetest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestTheAccountServesOtherProcesses(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	server := assert.Must(acct.Serve())(t)
	conn := server.ConnectionString()

	tables, err := aztables.NewServiceClientFromConnectionString(conn, nil)
	assert.NoError(t, err)
	client := tables.NewClient("people")
	assert.NoError(t, assert.ErrorOf(client.CreateTable(ctx, nil)))
	put(t, client, "p", "1", "2", "3")
	act := []aztables.TransactionAction{{ActionType: aztables.TransactionTypeDelete, Entity: entity(t, "p", "2")}}
	assert.NoError(t, assert.ErrorOf(client.SubmitTransaction(ctx, act, nil)))
	acct.Fault(storagetest.On("Table.Query").ShortPage(1))
	if keys, pages := rowKeys(t, client, nil); len(keys) != 2 || pages != 2 {
		t.Errorf("%v in %d pages", keys, pages)
	}
	acct.ClearFaults()
	_, err = client.GetEntity(ctx, "p", "none", nil)
	wantCode(t, err, 404, "ResourceNotFound")

	queues := assert.Must(azqueue.NewServiceClientFromConnectionString(conn, nil))(t)
	assert.NoError(t, assert.ErrorOf(queues.CreateQueue(ctx, "jobs", nil)))
	blobs := assert.Must(azblob.NewClientFromConnectionString(conn, nil))(t)
	assert.NoError(t, assert.ErrorOf(blobs.CreateContainer(ctx, "box", nil)))
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	assert.NoError(t, assert.ErrorOf(blobs.UploadBuffer(ctx, "box", "a/b", big, nil)))
	res := assert.Must(blobs.DownloadStream(ctx, "box", "a/b", nil))(t)
	if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, big) {
		t.Errorf("%d bytes, %v", len(got), err)
	}

	// Clients in the process and over the socket use the same account and log.
	if keys, _ := rowKeys(t, acct.Tables().NewClient("people"), nil); len(keys) != 2 {
		t.Errorf("in process: %v", keys)
	}
	log := acct.Log()
	if log.Count("Queue.CreateQueue") != 1 || log.Count("Blob.*") < 3 || log.Count("Table.Batch") != 1 {
		t.Errorf("\n%v", log)
	}
	assert.Equal(t, server.Close(), nil)
	assert.Failed(t, assert.ErrorOf(http.Get(server.TablesURL)), "still serving after Close")
}

func TestALostReplyBreaksTheConnection(t *testing.T) {
	acct := storagetest.New(t)
	server := assert.Must(acct.Serve())(t)
	acct.Fault(storagetest.On("*").LoseReply())
	if res, err := http.Get(server.TablesURL + "/Tables"); err == nil {
		t.Errorf("received a reply: %s", res.Status)
	}
	acct.ClearFaults()
	acct.Fault(storagetest.On("*").CutReply(5))
	res := assert.Must(http.Get(server.TablesURL + "/Tables"))(t)
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("received a whole body: %q", b)
	}
}

// Clients such as that of Node.js send the whole body before they read the reply.
func TestABodyThatIsTooLargeIsAnsweredWithoutAReset(t *testing.T) {
	server := assert.Must(storagetest.New(t).Serve())(t)
	address := assert.Must(url.Parse(server.QueuesURL))(t)
	conn := assert.Must(net.Dial("tcp", address.Host))(t)
	defer conn.Close()
	const size = 16 << 20
	if _, err := fmt.Fprintf(conn, "POST %s/jobs/messages HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", address.Path, address.Host, size); err != nil {
		t.Fatal(err)
	}
	assert.NoError(t, assert.ErrorOf(io.CopyN(conn, zeros{}, size)), "the connection broke while the body was sent")
	res := assert.Must(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized || res.Close {
		t.Errorf("%s, the connection ends: %v", res.Status, res.Close)
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestServeAnswersAtHostStyleAddresses(t *testing.T) {
	acct := storagetest.New(t)
	server := assert.Must(acct.Serve())(t)
	address := assert.Must(url.Parse(server.TablesURL))(t)
	opts := &aztables.ClientOptions{}
	opts.InsecureAllowCredentialWithHTTP = true
	opts.Transport = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address.Host)
	}}}
	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	client := assert.Must(aztables.NewServiceClientWithSharedKey("http://"+storagetest.AccountName+".table.localhost:"+address.Port(), cred, opts))(t)
	assert.NoError(t, assert.ErrorOf(client.CreateTable(t.Context(), "people", nil)))
	assert.Equal(t, acct.Log().Count("Table.CreateTable"), 1)
}

func TestTheTransportIsThatOfAnHTTPClient(t *testing.T) {
	acct := storagetest.New(t)
	client := &http.Client{Transport: acct.Transport()}
	res := assert.Must(client.Get(storagetest.TablesURL + "/Tables"))(t)
	assert.NoError(t, res.Body.Close())
	assert.Equal(t, res.StatusCode, http.StatusUnauthorized)
	assert.Equal(t, acct.Log().Count("Table.ListTables"), 1)
}

func TestTheHostOfARequestSelectsTheService(t *testing.T) {
	h := storagetest.New(t).Handler()
	for target, want := range map[string]struct {
		status int
		code   string
	}{
		"http://devstoreaccount1.table.example/Tables":           {401, "NoAuthenticationInformation"},
		"http://devstoreaccount1.queue.example/?comp=list":       {401, "NoAuthenticationInformation"},
		"http://devstoreaccount1.blob.example/?comp=list":        {401, "NoAuthenticationInformation"},
		"http://someoneelse.table.example/Tables":                {400, "InvalidUri"},
		"http://devstoreaccount1.file.example/":                  {400, "InvalidUri"},
		"http://someoneelse.table.example/devstoreaccount1/none": {401, "NoAuthenticationInformation"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		assert.Equal(t, w.Code, want.status)
		assert.Contains(t, w.Body.String(), want.code)
	}
}
