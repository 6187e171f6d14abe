package harness

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The account has a token credential that permits only what the roles for data permit, as a live account does.
func TestALiveAccountIsUsedWithATokenAndLeftEmpty(t *testing.T) {
	acct := storagetest.New(t)
	l := ServeLive(t, acct, acct.Credential(storagetest.TableContributor, storagetest.QueueContributor, storagetest.BlobContributor))
	l.run(t, bothModes, func(t *testing.T, b *Backend) {
		type row struct{ PartitionKey, RowKey string }
		table := assert.Must(patterns.NewTable[row](b.Table(t), nil))(t)
		assert.NoError(t, assert.ErrorOf(table.Insert(t.Context(), &row{"p", "r"})))
		b.WantOps(t, "Table.Insert")
		_, err := table.Batch().Delete(keys.Key{Partition: "p", Row: "r"}, azcore.ETagAny).Commit(t.Context())
		assert.NoError(t, err)
		assert.NoError(t, assert.ErrorOf(b.Queue(t).EnqueueMessage(t.Context(), "m", nil)))
		assert.NoError(t, assert.ErrorOf(b.Container(t).NewBlockBlobClient("a").UploadBuffer(t.Context(), []byte("x"), nil)))
	})
	tables := assert.Must(acct.Tables().NewListTablesPager(nil).NextPage(t.Context()))(t)
	assert.Equal(t, len(tables.Tables), 0, "tables that are left")
	log := acct.Log()
	for _, ops := range [][2]string{{"Table.CreateTable", "Table.DeleteTable"}, {"Queue.CreateQueue", "Queue.DeleteQueue"}, {"Blob.CreateContainer", "Blob.DeleteContainer"}} {
		assert.Equal(t, log.Count(ops[0]), 2, ops[0])
		assert.Equal(t, log.Count(ops[1]), 2, ops[1])
	}
}
