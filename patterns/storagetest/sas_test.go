package storagetest_test

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	blobsas "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	queuesas "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func checkQueueSAS(t *testing.T, acct *storagetest.Account, owner *azqueue.QueueClient) {
	t.Helper()
	address := assert.Must(owner.GetSASURL(queuesas.QueuePermissions{Add: true}, time.Now().Add(time.Hour), nil))(t)
	var opts azqueue.ClientOptions
	opts.Transport = acct.Transport()
	c, err := azqueue.NewQueueClientWithNoCredential(address, &opts)
	assert.NoError(t, err)
	assert.Equal(t, assert.ErrorOf(c.EnqueueMessage(t.Context(), "x", nil)), nil, "put")
	_, err = c.DequeueMessage(t.Context(), nil)
	wantCode(t, err, 403, "AuthorizationPermissionMismatch")
	_, err = c.Delete(t.Context(), nil)
	wantCode(t, err, 403, "AuthorizationFailure")
}

func checkBlobSAS(t *testing.T, acct *storagetest.Account, owner *container.Client) {
	t.Helper()
	address := assert.Must(owner.GetSASURL(blobsas.ContainerPermissions{Create: true, Read: true}, time.Now().Add(time.Hour), nil))(t)
	var opts container.ClientOptions
	opts.Transport = acct.Transport()
	c, err := container.NewClientWithNoCredential(address, &opts)
	assert.NoError(t, err)
	b := c.NewBlockBlobClient("a/b")
	upload := func(b *blockblob.Client, text string) error {
		_, err := b.UploadBuffer(t.Context(), []byte(text), nil)
		return err
	}
	assert.Equal(t, upload(b, "first"), nil, "create")
	log := acct.Log()
	if put := log[len(log)-1]; put.Op != "Blob.Put" || put.Status != 201 || put.Inner != 0 || put.Code != "" || put.Returned != 0 || put.Written != 1 {
		t.Errorf("create is logged as %v", put)
	}
	wantCode(t, upload(b, "second"), 403, "UnauthorizedBlobOverwrite") // c creates, w overwrites
	assert.Equal(t, assert.ErrorOf(b.DownloadStream(t.Context(), nil)), nil, "read")
	_, err = b.SetMetadata(t.Context(), nil, nil)
	wantCode(t, err, 403, "AuthorizationPermissionMismatch")
	_, err = b.Delete(t.Context(), nil)
	wantCode(t, err, 403, "AuthorizationPermissionMismatch")
}

// Tags need the permission t, the tier needs w, and account information needs any
// permission.
func TestTagsAndTierOfABlobNeedTheirPermissions(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	box := acct.Container("box")
	assert.NoError(t, assert.ErrorOf(box.Create(ctx, nil)))
	assert.NoError(t, assert.ErrorOf(box.NewBlockBlobClient("b").UploadBuffer(ctx, []byte("x"), nil)))
	assert.NoError(t, assert.ErrorOf(box.NewAppendBlobClient("log").Create(ctx, nil)))
	var opts container.ClientOptions
	opts.Transport = acct.Transport()
	for _, with := range []struct {
		letters   blobsas.ContainerPermissions
		tag, tier string // the code of the refusal
	}{
		{blobsas.ContainerPermissions{Tag: true}, "", "AuthorizationPermissionMismatch"},
		{blobsas.ContainerPermissions{Write: true}, "AuthorizationPermissionMismatch", ""},
		{blobsas.ContainerPermissions{Read: true, Create: true, List: true, Delete: true}, "AuthorizationPermissionMismatch", "AuthorizationPermissionMismatch"},
	} {
		address := assert.Must(box.GetSASURL(with.letters, time.Now().Add(time.Hour), nil))(t)
		c, err := container.NewClientWithNoCredential(address, &opts)
		assert.NoError(t, err)
		held := func(what string, err error, code string) {
			t.Helper()
			if code != "" {
				wantCode(t, err, 403, code)
			} else if err != nil {
				t.Errorf("%s with %s: %v", what, with.letters.String(), err)
			}
		}
		b := c.NewBlockBlobClient("b")
		_, err = b.SetTags(ctx, map[string]string{"a": "1"}, nil)
		held("set tags", err, with.tag)
		_, err = b.GetTags(ctx, nil)
		held("get tags", err, with.tag)
		_, err = b.SetTier(ctx, blob.AccessTierCool, nil)
		held("set the tier", err, with.tier)
		_, err = c.NewAppendBlobClient("log").Seal(ctx, nil)
		held("seal", err, with.tier)
		if !with.letters.Tag { // a permission that was added after that operation
			_, err = c.GetAccountInfo(ctx, nil)
			held("account information", err, "")
		}
	}
}
