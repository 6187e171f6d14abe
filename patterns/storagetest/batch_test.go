package storagetest_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestABatchOfDeletesIsOneRequest(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	box := acct.Container("box")
	assert.NoError(t, assert.ErrorOf(box.Create(ctx, nil)))
	for _, name := range []string{"a", "b"} {
		assert.NoError(t, assert.ErrorOf(box.NewBlockBlobClient(name).Upload(ctx, streaming.NopCloser(strings.NewReader("x")), nil)))
	}
	batch := assert.Must(box.NewBatchBuilder())(t)
	for _, name := range []string{"a", "none", "b"} {
		assert.NoError(t, batch.Delete(name, nil))
	}
	acct.ResetLog()
	acct.Fault(storagetest.On("Blob.Batch").Nth(1).LoseReply())
	res, err := box.SubmitBatch(ctx, batch, nil) // the SDK repeats it
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), len(res.Responses), 3)
	for _, item := range res.Responses {
		wantCode(t, item.Error, 404, "BlobNotFound")
	}
	log := acct.Log()
	assert.Equal(assert.Now(t), len(log), 2)
	assert.Equal(assert.Now(t), log.Count("Blob.Batch"), 2)
	if first, second := log[0], log[1]; first.Written != 2 || second.Written != 0 || second.Status != 202 || second.Inner != 404 || second.Code != "BlobNotFound" {
		t.Errorf("\n%v", log)
	}
}
