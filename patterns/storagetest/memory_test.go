package storagetest_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// held returns the bytes in use after a garbage collection.
func held() int64 {
	runtime.GC()
	runtime.GC() // objects with finalizers or in a sync.Pool need two collections
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

const mib = 1 << 20

func TestDeletedDataIsRemovedFromMemory(t *testing.T) {
	documented(t) // without a secondary, which contains what was deleted for a while
	ctx := t.Context()
	acct := storagetest.Start(&storagetest.Options{LogLimit: 10})
	people := acct.Tables().NewClient("people")
	box, jobs := acct.Container("box"), acct.Queue("jobs")
	check := func(_ any, err error) {
		t.Helper()
		assert.NoError(t, err)
	}
	// round stores about 1 MiB in each service and deletes it, one by one or as a whole.
	round := func(whole bool) (most int64) {
		text := strings.Repeat("x", 32<<10)
		for i := range 16 {
			row := fmt.Appendf(nil, `{"PartitionKey":"p","RowKey":"%d","A":%q,"B":%q}`, i, text, text[:32<<10-1])
			check(people.UpsertEntity(ctx, row, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}))
			check(people.UpsertEntity(ctx, row, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})) // the old version is removed
			check(jobs.EnqueueMessage(ctx, text+text, nil))
		}
		blob := box.NewBlockBlobClient("b")
		check(blob.UploadBuffer(ctx, bytes.Repeat([]byte("x"), mib), nil))
		check(blob.UploadBuffer(ctx, bytes.Repeat([]byte("y"), mib), nil))
		most = held()
		if whole {
			check(people.Delete(ctx, nil))
			check(jobs.ClearMessages(ctx, nil))
			check(box.Delete(ctx, nil))
			return most
		}
		for i := range 16 {
			check(people.DeleteEntity(ctx, "p", fmt.Sprint(i), nil))
		}
		for {
			res, err := jobs.DequeueMessage(ctx, nil)
			check(res, err)
			if len(res.Messages) == 0 {
				break
			}
			check(jobs.DeleteMessage(ctx, *res.Messages[0].MessageID, *res.Messages[0].PopReceipt, nil))
		}
		check(blob.Delete(ctx, nil))
		return most
	}
	check(people.CreateTable(ctx, nil))
	check(jobs.Create(ctx, nil))
	check(box.Create(ctx, nil))
	round(false) // fills caches and pools
	before := held()
	for _, whole := range []bool{false, true} {
		most := round(whole)
		after := held()
		if most-before < 2*mib {
			t.Errorf("whole %v: 3 MiB stored take %d KiB: nothing was measured", whole, (most-before)>>10)
		}
		if most-before > 9*mib {
			t.Errorf("whole %v: 3 MiB stored take %d MiB", whole, (most-before)/mib)
		}
		if after-before > mib/2 {
			t.Errorf("whole %v: %d KiB remain", whole, (after-before)>>10)
		}
	}
	runtime.KeepAlive(acct)
}
