package storagetest_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	blobsas "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

const largeNumber = `{"PartitionKey":"p","RowKey":"r","N":9007199254740993}`

func TestALargeNumberWithoutATypeIsADoubleWithAWarning(t *testing.T) {
	acct := storagetest.New(t)
	table := acct.Tables().NewClient("people")
	assert.NoError(t, assert.ErrorOf(table.CreateTable(t.Context(), nil)))
	assert.NoError(t, assert.ErrorOf(table.AddEntity(t.Context(), []byte(largeNumber), nil)))
	got := assert.Must(table.GetEntity(t.Context(), "p", "r", nil))(t)
	assert.Contains(t, string(got.Value), `"N":9007199254740992,`) // the last digit is lost

	warned := acct.Log().Only("Table.Insert")[0]
	if len(warned.Warnings) != 1 {
		t.Fatalf("warnings %q, want one", warned.Warnings)
	}
	for _, part := range []string{"people", `("p", "r")`, " N: ", "beyond Int32"} {
		assert.Contains(t, warned.Warnings[0], part)
		assert.Contains(t, warned.String(), part)
	}
	assert.Equal(t, len(acct.Log().Only("Table.Get")[0].Warnings), 0)
}

func TestStrictRefusesWhatNothingDecides(t *testing.T) {
	acct := storagetest.Start(&storagetest.Options{Strict: true})
	cred := assert.Must(aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey))(t)
	opts := &aztables.ClientOptions{}
	opts.Transport = acct.Transport()
	service := assert.Must(aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, cred, opts))(t)
	table := service.NewClient("people")
	assert.NoError(t, assert.ErrorOf(table.CreateTable(t.Context(), nil)))
	_, err := table.AddEntity(t.Context(), []byte(largeNumber), nil)
	wantCode(t, err, 400, "InvalidInput")
	assert.Contains(t, err.Error(), "N: a whole number beyond Int32")
	batch := []aztables.TransactionAction{{ActionType: aztables.TransactionTypeAdd, Entity: []byte(largeNumber)}}
	_, err = table.SubmitTransaction(t.Context(), batch, nil)
	assert.Failed(t, err, "in a transaction")
	_, err = table.GetEntity(t.Context(), "p", "r", nil)
	wantCode(t, err, 404, "ResourceNotFound")
}

func TestServeKeepsTheCaseOfTheNamesOfMetadata(t *testing.T) {
	acct := storagetest.New(t)
	server := assert.Must(acct.Serve())(t)
	c := acct.Container("photos")
	assert.NoError(t, assert.ErrorOf(c.Create(t.Context(), nil)))
	assert.NoError(t, assert.ErrorOf(c.NewBlockBlobClient("a").UploadBuffer(t.Context(), []byte("x"), nil)))
	sas := assert.Must(c.NewBlobClient("a").GetSASURL(blobsas.BlobPermissions{Read: true, Write: true}, time.Now().Add(time.Hour), nil))(t)
	_, query, _ := strings.Cut(sas, "?")
	address := server.BlobsURL + "/photos/a?" + query

	put := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodPut, address+"&comp=metadata", http.NoBody))(t)
	put.Header["x-ms-meta-LogType"] = []string{"read"}
	put.Header["x-ms-version"] = []string{"2021-12-02"}
	res := assert.Must(http.DefaultClient.Do(put))(t)
	assert.NoError(t, res.Body.Close())
	assert.Equal(t, res.StatusCode, http.StatusOK)

	// A client of Go sees its own spelling, so the reply is read as it was written.
	assert.Contains(t, rawReply(t, address), "\nx-ms-meta-LogType: read\r\n")
	props := assert.Must(c.NewBlobClient("a").GetProperties(t.Context(), nil))(t)
	if v := props.Metadata["Logtype"]; v == nil || *v != "read" {
		t.Errorf("a client in this process reads %v", props.Metadata)
	}
}

// rawReply returns the reply to a GET as it was sent.
func rawReply(t *testing.T, address string) string {
	t.Helper()
	req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody))(t)
	req.Close = true
	conn := assert.Must(net.Dial("tcp", req.URL.Host))(t)
	defer func() { _ = conn.Close() }()
	assert.NoError(t, req.Write(conn))
	return string(assert.Must(io.ReadAll(conn))(t))
}
