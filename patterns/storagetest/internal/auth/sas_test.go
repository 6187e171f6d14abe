package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	blobsas "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	queuesas "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	r := assert.Must(http.NewRequest("GET", url, nil))(t)
	return r
}

func soon() time.Time { return time.Now().Add(time.Hour).UTC() }

func TestTableSASOfTheSDKIsAccepted(t *testing.T) {
	cred, _ := aztables.NewSharedKeyCredential(account, key64)
	for style, endpoint := range endpoints(op.Table) {
		t.Run(style, func(t *testing.T) {
			client := assert.Must(aztables.NewClientWithSharedKey(endpoint+"/People", cred, nil))(t)
			// The path of the URL that the helper returns is wrong, so only its query is used.
			url := assert.Must(client.GetTableSASURL(aztables.SASPermissions{Read: true, Add: true}, time.Now().UTC().Add(-time.Minute), soon()))(t)
			_, query, _ := strings.Cut(url, "?")
			g, refusal := verify(verifier(), get(t, endpoint+"/People()?"+query), op.Table)
			wantCode(t, refusal, 0, "")
			wantCode(t, g.Allow(op.TableQuery, "People"), 0, "")
			wantCode(t, g.AllowRow(op.TableInsert, "PEOPLE", "any", "row"), 0, "")
			wantCode(t, g.AllowRow(op.TableMerge, "People", "a", "b"), 403, "AuthorizationPermissionMismatch")
			wantCode(t, g.AllowRow(op.TableUpsertMerge, "People", "a", "b"), 403, "AuthorizationPermissionMismatch")
			wantCode(t, g.Allow(op.TableQuery, "Other"), 403, "AuthorizationFailure")
			for _, o := range []op.Op{op.TableCreate, op.TableDrop, op.TableList, op.TableGetACL, op.TableSetACL, op.TableSetProperties} {
				wantCode(t, g.Allow(o, "People"), 403, "AuthorizationFailure")
			}
			if !g.Range().All() {
				t.Errorf("range %v", g.Range())
			}
			// The batch endpoint does not name the table; tn does.
			_, refusal = verify(verifier(), get(t, endpoint+"/$batch?"+query), op.Table)
			wantCode(t, refusal, 0, "")
		})
	}
}

func TestAccountSASOfTheSDKsIsAccepted(t *testing.T) {
	tables, _ := aztables.NewSharedKeyCredential(account, key64)
	service := assert.Must(aztables.NewServiceClientWithSharedKey("https://acct.table.core.windows.net", tables, nil))(t)
	url, err := service.GetAccountSASURL(aztables.AccountSASResourceTypes{Container: true, Object: true},
		aztables.AccountSASPermissions{Read: true, Add: true, Update: true, Create: true, List: true}, time.Now().Add(-time.Minute), soon())
	assert.NoError(t, err)
	g, refusal := verify(verifier(), get(t, strings.Replace(url, "?", "T?", 1)), op.Table)
	wantCode(t, refusal, 0, "")
	for _, o := range []op.Op{op.TableCreate, op.TableList, op.TableQuery, op.TableInsert, op.TableMerge} {
		wantCode(t, g.Allow(o, "T"), 0, "")
	}
	wantCode(t, g.AllowRow(op.TableUpsertMerge, "T", "a", "b"), 0, "")
	wantCode(t, g.Allow(op.TableDelete, "T"), 403, "AuthorizationPermissionMismatch")
	wantCode(t, g.Allow(op.TableGetProperties, ""), 403, "AuthorizationResourceTypeMismatch")
	wantCode(t, g.Allow(op.TableSetACL, "T"), 403, "AuthorizationFailure")
	_, refusal = verify(verifier(), get(t, strings.Replace(url, "?", "q/messages?", 1)), op.Queue)
	wantCode(t, refusal, 403, "AuthorizationServiceMismatch")

	queues, _ := azqueue.NewSharedKeyCredential(account, key64)
	q := assert.Must(queuesas.AccountSignatureValues{ExpiryTime: soon(), Permissions: "rp", ResourceTypes: "o"}.SignWithSharedKey(queues))(t)
	g, refusal = verify(verifier(), get(t, "http://127.0.0.1:1/acct/jobs/messages?"+q.Encode()), op.Queue)
	wantCode(t, refusal, 0, "")
	wantCode(t, g.Allow(op.QueueGet, "jobs"), 0, "")
	wantCode(t, g.Allow(op.QueuePut, "jobs"), 403, "AuthorizationPermissionMismatch")
	wantCode(t, g.Allow(op.QueueCreate, "jobs"), 403, "AuthorizationResourceTypeMismatch")

	blobs, _ := container.NewSharedKeyCredential(account, key64)
	b, err := blobsas.AccountSignatureValues{ExpiryTime: soon(), Permissions: "cr", ResourceTypes: "co", EncryptionScope: "scope"}.SignWithSharedKey(blobs)
	assert.NoError(t, err)
	g, refusal = verify(verifier(), get(t, "https://acct.blob.core.windows.net/c/b?"+b.Encode()), op.Blob)
	wantCode(t, refusal, 0, "")
	wantCode(t, allowBlob(g, op.BlobPut, false, "c", "b"), 0, "")
	wantCode(t, allowBlob(g, op.BlobSetMetadata, true, "c", "b"), 403, "AuthorizationPermissionMismatch")
}

func TestQueueSASOfTheSDKIsAccepted(t *testing.T) {
	cred, _ := azqueue.NewSharedKeyCredential(account, key64)
	for style, endpoint := range endpoints(op.Queue) {
		t.Run(style, func(t *testing.T) {
			client := assert.Must(azqueue.NewQueueClientWithSharedKeyCredential(endpoint+"/jobs", cred, nil))(t)
			q, err := queuesas.QueueSignatureValues{Protocol: queuesas.ProtocolHTTPS, StartTime: time.Now().UTC().Add(-time.Minute), ExpiryTime: soon(),
				Permissions: "ap", QueueName: "jobs"}.SignWithSharedKey(cred)
			assert.NoError(t, err)
			g, refusal := verify(verifier(), get(t, client.URL()+"/messages?"+q.Encode()), op.Queue)
			wantCode(t, refusal, 0, "")
			for o, allowed := range map[op.Op]bool{op.QueuePut: true, op.QueueGet: true, op.QueueDelete: true,
				op.QueuePeek: false, op.QueueUpdate: false, op.QueueGetMetadata: false} {
				if refusal := g.Allow(o, "jobs"); (refusal == nil) != allowed {
					t.Errorf("%s: %v", o, refusal)
				}
			}
			wantCode(t, g.Allow(op.QueueCreate, "jobs"), 403, "AuthorizationFailure")
			_, refusal = verify(verifier(), get(t, endpoint+"/other/messages?"+q.Encode()), op.Queue)
			wantCode(t, refusal, 403, "AuthenticationFailed")
		})
	}
}

func TestBlobSASOfTheSDKIsAccepted(t *testing.T) {
	cred, _ := container.NewSharedKeyCredential(account, key64)
	for style, endpoint := range endpoints(op.Blob) {
		files := assert.Must(container.NewClientWithSharedKeyCredential(endpoint+"/files", cred, nil))(t)
		for _, odd := range append(oddText, "dir/sub/file", `back\slash`, "q?m#h") {
			if odd == "" {
				continue
			}
			t.Run(style+"/"+odd, func(t *testing.T) {
				url := assert.Must(files.NewBlobClient(odd).GetSASURL(blobsas.BlobPermissions{Read: true, Create: true}, soon(), nil))(t)
				g, refusal := verify(verifier(), get(t, url), op.Blob)
				wantCode(t, refusal, 0, "")
				odd := strings.ReplaceAll(odd, `\`, "/") // as the service does
				wantCode(t, allowBlob(g, op.BlobGet, true, "files", odd), 0, "")
				wantCode(t, allowBlob(g, op.BlobPut, false, "files", odd), 0, "")
				wantCode(t, allowBlob(g, op.BlobSetMetadata, true, "files", odd), 403, "AuthorizationPermissionMismatch")
				wantCode(t, allowBlob(g, op.BlobGet, true, "files", odd+"x"), 403, "AuthorizationFailure")
				wantCode(t, g.Allow(op.BlobList, "files"), 403, "AuthorizationFailure")
			})
		}
		t.Run(style+"/container", func(t *testing.T) {
			url := assert.Must(files.GetSASURL(blobsas.ContainerPermissions{Read: true, List: true, Add: true}, soon(), nil))(t)
			base, query, _ := strings.Cut(url, "?")
			g, refusal := verify(verifier(), get(t, base+"/any/blob?"+query), op.Blob)
			wantCode(t, refusal, 0, "")
			wantCode(t, allowBlob(g, op.BlobGet, true, "files", "any/blob"), 0, "")
			wantCode(t, allowBlob(g, op.BlobAppend, true, "files", "other"), 0, "")
			wantCode(t, g.Allow(op.BlobList, "files"), 0, "")
			wantCode(t, allowBlob(g, op.BlobDelete, true, "files", "b"), 403, "AuthorizationPermissionMismatch")
			wantCode(t, g.Allow(op.BlobDeleteContainer, "files"), 403, "AuthorizationFailure")
			_, refusal = verify(verifier(), get(t, strings.Replace(base, "files", "others", 1)+"/b?"+query), op.Blob)
			wantCode(t, refusal, 403, "AuthenticationFailed")
		})
	}
	t.Run("snapshot and response headers", func(t *testing.T) {
		at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
		q, err := blobsas.BlobSignatureValues{ExpiryTime: soon(), Permissions: "r", ContainerName: "c", BlobName: "b", SnapshotTime: at,
			CacheControl: "no-store", ContentDisposition: "attachment; filename=a b", ContentType: "text/plain"}.SignWithSharedKey(cred)
		assert.NoError(t, err)
		url := "https://acct.blob.core.windows.net/c/b?snapshot=" + at.Format("2006-01-02T15:04:05.0000000Z07:00") + "&" + q.Encode()
		g, refusal := verify(verifier(), get(t, url), op.Blob)
		wantCode(t, refusal, 0, "")
		wantCode(t, allowBlob(g, op.BlobGet, true, "c", "b"), 0, "")
		_, refusal = verify(verifier(), get(t, url+"&rsce=gzip"), op.Blob)
		wantCode(t, refusal, 403, "AuthenticationFailed")
	})
}
