package indexentity_test

import (
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The first attempt to create a list arrives after the entity was deleted: before a worker has
// received the message of the insert, or after that.
func TestLateCreationOfAListBlobIsUndone(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		for _, worked := range []bool{false, true} {
			blobs := b.Container(t)
			w, err := newWorld(b.Table(t), nil, blobs, "blob", new(harness.OutboxQueue))
			assert.NoError(t, err)
			b.Fault(storagetest.On("Blob.Put").Nth(1).LateRequest(14*time.Minute, 14*time.Minute))
			w.hire(t, "1", "Jones")
			assert.NoError(t, w.store.Delete(t.Context(), keys.Key{Partition: "Sales", Row: "1"}))
			if worked {
				assert.NoError(t, w.messages.Work(t.Context(), w.store.Handle))
			}
			b.ClearFaults()
			if b.Arrive() != 1 {
				t.Error("no request was late")
			}
			w.finish(t)
			w.want(t, "Jones")
			if _, err := blobs.NewBlobClient("lastname/Jones.json").GetProperties(t.Context(), nil); err == nil {
				t.Error("the list exists again")
			}
		}
	})
}

// finish runs a worker until no message is left.
func (w *world) finish(t testing.TB) {
	t.Helper()
	for range 100 { // more than 12 hours
		for {
			worked, err := w.messages.WorkOne(t.Context(), w.store, time.Minute)
			assert.NoError(t, err)
			if !worked {
				break
			}
		}
		if w.messages.Len() == 0 {
			return
		}
		time.Sleep(10 * time.Minute)
	}
	t.Errorf("%d messages are left", w.messages.Len())
}

// The late check of an operation ends if there was nothing to correct.
func TestRecordOfAFinishedListIsRemoved(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		w, err := newWorld(b.Table(t), nil, b.Container(t), "blob", new(harness.OutboxQueue))
		assert.NoError(t, err)
		b.Fault(storagetest.On("Blob.Put").Status(403, "AuthorizationFailure"))
		w.hire(t, "1", "Jones")
		b.ClearFaults()
		w.finish(t)
		w.want(t, "Jones", "1")
		report, err := w.store.Sweep(t.Context(), nil)
		if err != nil || report.Found != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}
