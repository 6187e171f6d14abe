package storagetest_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestTheAccountServesOtherProcesses(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	server, err := acct.Serve()
	if err != nil {
		t.Fatal(err)
	}
	conn := server.ConnectionString()

	tables, err := aztables.NewServiceClientFromConnectionString(conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := tables.NewClient("people")
	if _, err := client.CreateTable(ctx, nil); err != nil {
		t.Fatal(err)
	}
	put(t, client, "p", "1", "2", "3")
	act := []aztables.TransactionAction{{ActionType: aztables.TransactionTypeDelete, Entity: entity(t, "p", "2")}}
	if _, err := client.SubmitTransaction(ctx, act, nil); err != nil {
		t.Fatal(err)
	}
	acct.Fault(storagetest.On("Table.Query").ShortPage(1))
	if keys, pages := rowKeys(t, client, nil); len(keys) != 2 || pages != 2 {
		t.Errorf("%v in %d pages", keys, pages)
	}
	acct.ClearFaults()
	_, err = client.GetEntity(ctx, "p", "none", nil)
	wantCode(t, err, 404, "ResourceNotFound")

	queues, err := azqueue.NewServiceClientFromConnectionString(conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queues.CreateQueue(ctx, "jobs", nil); err != nil {
		t.Fatal(err)
	}
	blobs, err := azblob.NewClientFromConnectionString(conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blobs.CreateContainer(ctx, "box", nil); err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	if _, err := blobs.UploadBuffer(ctx, "box", "a/b", big, nil); err != nil {
		t.Fatal(err)
	}
	res, err := blobs.DownloadStream(ctx, "box", "a/b", nil)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(server.TablesURL); err == nil {
		t.Error("still serving after Close")
	}
}

func TestALostReplyBreaksTheConnection(t *testing.T) {
	acct := storagetest.New(t)
	server, err := acct.Serve()
	if err != nil {
		t.Fatal(err)
	}
	acct.Fault(storagetest.On("*").LoseReply())
	if res, err := http.Get(server.TablesURL + "/Tables"); err == nil {
		t.Errorf("received a reply: %s", res.Status)
	}
	acct.ClearFaults()
	acct.Fault(storagetest.On("*").CutReply(5))
	res, err := http.Get(server.TablesURL + "/Tables")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("received a whole body: %q", b)
	}
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
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.code) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}
