package indexentity_test

import (
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The first attempt to create a list arrives after the entity was deleted.
func TestALateWriteOfAListIsCorrected(t *testing.T) {
	for _, home := range []string{"other partition", "blob"} {
		t.Run(home, func(t *testing.T) {
			harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
				w := assert.Must(newWorld(b.Table(t), b.Table(t), b.Container(t), home, &harness.OutboxQueue{}))(t)
				operation := "Table.Insert"
				if home == "blob" {
					operation = "Blob.Put"
				}
				b.Fault(storagetest.On(operation).Nth(1).LateRequest(time.Minute, time.Minute))
				w.hire(t, "1", "Jones")
				w.want(t, "Jones", "1")
				assert.NoError(t, w.store.Delete(t.Context(), keys.Key{Partition: "Sales", Row: "1"}))
				time.Sleep(5 * time.Minute)
				for range 100 {
					if ok, err := w.messages.WorkOne(t.Context(), w.store, time.Minute); err != nil || !ok {
						assert.NoError(t, err)
						time.Sleep(10 * time.Minute)
					}
				}
				assert.Equal(t, w.messages.Len(), 0, "messages remain")
				w.want(t, "Jones")
			})
		})
	}
}
