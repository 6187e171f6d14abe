package blob_test

import (
	"io"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/blob"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

const endpoint = "https://account.blob.example/"

// newService returns an SDK client of a new service, without retries.
func newService(t *testing.T) *service.Client {
	t.Helper()
	c, err := service.NewClientWithNoCredential(endpoint, &service.ClientOptions{
		ClientOptions: azcore.ClientOptions{
			Transport: &servicetest.Transport{Handler: servicetest.Handler(op.Blob, blob.New(nil).Serve)},
			Retry:     policy.RetryOptions{MaxRetries: -1},
		},
	})
	assert.NoError(t, err)
	return c
}

func newContainer(t *testing.T) *container.Client {
	t.Helper()
	c := newService(t).NewContainerClient("container1")
	assert.NoError(t, assert.ErrorOf(c.Create(t.Context(), nil)))
	return c
}

func wantCode(t *testing.T, err error, code bloberror.Code) {
	t.Helper()
	if !bloberror.HasCode(err, code) {
		t.Errorf("got %v, want %s", err, code)
	}
}

func body(s string) io.ReadSeekCloser { return streaming.NopCloser(strings.NewReader(s)) }

func read(t *testing.T, c *sdk.Client, o *sdk.DownloadStreamOptions) string {
	t.Helper()
	r := assert.Must(c.DownloadStream(t.Context(), o))(t)
	b := assert.Must(io.ReadAll(r.Body))(t)
	return string(b)
}
