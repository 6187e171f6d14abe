package storagetest_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
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

// Each of these requests is accepted with a warning that names the property or parameter, and refused by a strict account.
func TestWhatNothingDecidesIsAcceptedWithAWarning(t *testing.T) {
	for _, c := range []struct {
		name, method, address string
		header                map[string]string
		body, warning         string
		status                int
	}{
		{name: "16 comparisons", method: "GET", address: storagetest.TablesURL + "/people()?$filter=" + strings.Repeat("A%20eq%201%20or%20", 15) + "A%20eq%201", warning: "people $filter: 16 comparisons", status: 200},
		{name: "True in a filter", method: "GET", address: storagetest.TablesURL + "/people()?$filter=A%20eq%20True", warning: "people $filter: True", status: 200},
		{name: "w/ in small letters", method: "PUT", address: storagetest.TablesURL + "/people(PartitionKey='p',RowKey='r')", header: map[string]string{"If-Match": `w/"x"`},
			body: "{}", warning: `people ("p", "r") If-Match: `, status: 412},
		{name: "an ETag without quotes", method: "GET", address: storagetest.BlobsURL + "/photos/a", header: map[string]string{"If-Match": "0x1"}, warning: "photos/a If-Match: ", status: 412},
		{name: "two MD5", method: "PUT", address: storagetest.BlobsURL + "/photos/b", header: map[string]string{
			"x-ms-blob-type": "BlockBlob", "Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA==", "x-ms-blob-content-md5": "XUFAKrxLKna5cZ2REBfFkg=="},
			body: "hello", warning: "photos/b Content-MD5: ", status: 201},
		{name: "no properties of tables", method: "PUT", address: storagetest.TablesURL + "/?restype=service&comp=properties", body: "<StorageServiceProperties/>", warning: " StorageServiceProperties: ", status: 202},
		{name: "no properties of queues", method: "PUT", address: storagetest.QueuesURL + "/?restype=service&comp=properties", body: "<StorageServiceProperties/>", warning: " StorageServiceProperties: ", status: 202},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, strict := range []bool{false, true} {
				acct := storagetest.Start(&storagetest.Options{Strict: strict})
				people := table(t, acct, "people")
				put(t, people, "p", "r")
				box := acct.Container("photos")
				assert.NoError(t, assert.ErrorOf(box.Create(t.Context(), nil)))
				assert.NoError(t, assert.ErrorOf(box.NewBlockBlobClient("a").UploadBuffer(t.Context(), []byte("x"), nil)))

				req := assert.Must(http.NewRequestWithContext(t.Context(), c.method, c.address, strings.NewReader(c.body)))(t)
				req.Header.Set("Authorization", "Bearer token")
				req.Header.Set("X-Ms-Version", "2021-12-02")
				for name, value := range c.header {
					req.Header.Set(name, value)
				}
				if strings.HasPrefix(c.body, "{") {
					req.Header.Set("Content-Type", "application/json")
				}
				res := assert.Must(acct.Transport().RoundTrip(req))(t)
				text := string(assert.Must(io.ReadAll(res.Body))(t))
				log := acct.Log()
				warnings := strings.Join(log[len(log)-1].Warnings, "\n")
				switch {
				case strict && (res.StatusCode != http.StatusBadRequest || !strings.Contains(text, "storagetest: ") || warnings != ""):
					t.Errorf("strict: %d %s, warnings %q", res.StatusCode, text, warnings)
				case !strict && (res.StatusCode != c.status || !strings.HasPrefix(warnings, c.warning)):
					t.Errorf("%d %s, warnings %q", res.StatusCode, text, warnings)
				}
			}
		})
	}
}

func TestAPageThatExaminesManyRowsHasAWarning(t *testing.T) {
	documented(t) // pages that examine many rows
	acct := storagetest.Start(nil)
	people := table(t, acct, "people")
	for p := range 101 {
		var batch []aztables.TransactionAction
		for r := range 100 {
			batch = append(batch, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: entity(t, fmt.Sprint(p), fmt.Sprint(r))})
		}
		assert.NoError(t, assert.ErrorOf(people.SubmitTransaction(t.Context(), batch, nil)))
	}
	for filter, want := range map[string]int{"A eq 1": 1, "PartitionKey eq '1'": 0} {
		acct.ResetLog()
		assert.NoError(t, assert.ErrorOf(people.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}).NextPage(t.Context())))
		assert.Equal(t, len(acct.Log()[0].Warnings), want, filter)
	}
}

func TestTheTokenOfACopySourceIsAJSONWebToken(t *testing.T) {
	acct := storagetest.Start(nil)
	box := acct.Container("photos")
	assert.NoError(t, assert.ErrorOf(box.Create(t.Context(), nil)))
	source := box.NewBlockBlobClient("a")
	assert.NoError(t, assert.ErrorOf(source.UploadBuffer(t.Context(), []byte("x"), nil)))
	copyWith := func(token string) error {
		token = "Bearer " + token
		return assert.ErrorOf(box.NewBlockBlobClient("b").UploadBlobFromURL(t.Context(), source.URL(), &blockblob.UploadBlobFromURLOptions{CopySourceAuthorization: &token}))
	}
	wantCode(t, copyWith("XXXXXXXXXXXXXX"), http.StatusUnauthorized, "CannotVerifyCopySource")
	assert.NoError(t, copyWith("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2lnbmVk"))
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
