package indexentity_test

import (
	"context"
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestErrorsOfListBlobsNameTheOperation(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		blobs, outbox := b.Container(t), new(harness.OutboxQueue)
		index := indexentity.InterBlob("names", blobs, func(p *harness.Person) (string, bool) { return p.Name, true }, nil)
		var pending error
		store := harness.NewStore(t, b.Table(t), &patterns.StoreOptions[harness.Person]{Views: []patterns.View[harness.Person]{index}, Outbox: outbox,
			OnPending: onPending(&pending)})
		reader := index.On(store)
		insert := func(name string) error {
			pending = nil
			p := harness.NewPerson(name)
			assert.NoError(t, assert.ErrorOf(store.Insert(t.Context(), &p)))
			return pending
		}
		assert.NoError(t, insert("Ann"))
		b.Fault(storagetest.On("Blob.Put").Status(412, "ConditionNotMet"))
		wantOp(t, insert("Bob"), "update list blob", patterns.ErrConflict)
		b.ClearFaults()
		b.Fault(storagetest.On("Blob.Put").Status(403, "AuthorizationFailure"))
		wantOp(t, insert("Cid"), "put list blob", nil)
		b.ClearFaults()
		_, err := blobs.NewBlockBlobClient("names/Ann.json").UploadBuffer(t.Context(), []byte("{}"), nil)
		assert.NoError(t, err)
		_, err = reader.Get(t.Context(), "", "Ann")
		wantOp(t, err, "get list blob", patterns.ErrBadReply)
		assert.NoError(t, assert.ErrorOf(blobs.NewBlockBlobClient("names/Ann.json").UploadBuffer(t.Context(), make([]byte, 17<<20), nil)))
		_, err = reader.Get(t.Context(), "", "Ann")
		wantOp(t, err, "get list blob", patterns.ErrTooLarge)
	})
}

func wantOp(t *testing.T, err error, op string, kind error) {
	t.Helper()
	var e *patterns.Error
	if !errors.As(err, &e) || e.Op != op || kind != nil && !errors.Is(err, kind) {
		t.Errorf("want the operation %q and %v, got %v", op, kind, err)
	}
}

func onPending(pending *error) func(context.Context, keys.Key, error) {
	return func(_ context.Context, _ keys.Key, err error) { *pending = err }
}
