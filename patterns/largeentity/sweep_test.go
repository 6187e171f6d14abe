package largeentity_test

import (
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestASweepMarksThenDeletes(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		ctx := t.Context()
		item := assert.Must(table.Insert(ctx, newJones("a", large)))(t)
		time.Sleep(100 * day) // an old blob
		before := stored(t, table.Container())
		item.Value.Photo = noise("b", large)
		assert.Must(table.Replace(ctx, item))(t)
		all := stored(t, table.Container())
		stored(t, table.Container())

		sweep := func(opts *patterns.SweepOptions, want patterns.SweepReport, requests int) {
			t.Helper()
			acct.ResetLog()
			var last patterns.Progress
			o := patterns.SweepOptions{}
			if opts != nil {
				o = *opts
			}
			o.Progress = func(p patterns.Progress) { last = p }
			got := assert.Must(table.Sweep(ctx, &o))(t)
			want.Skipped, want.Requests = want.Found-want.Done, requests
			assert.DeepEqual(t, got, want, "report")
			assert.Equal(t, last, want.Progress, "progress", want)
			assert.Equal(t, len(acct.Log()), requests, "requests", "\n", acct.Log())
		}
		sweep(&patterns.SweepOptions{OlderThan: 200 * day}, report(2, 0, 0, 0), 1)
		sweep(&patterns.SweepOptions{DryRun: true}, report(2, 1, 1, 0), 2)
		sweep(nil, report(2, 1, 1, 0), 3)
		// A reader of the old row has a day from now.
		time.Sleep(day - time.Minute)
		sweep(nil, report(2, 0, 0, 0), 1)
		assert.EqualSlices(assert.Now(t), stored(t, table.Container()), all, "blobs")
		time.Sleep(time.Hour)
		sweep(&patterns.SweepOptions{DryRun: true}, report(2, 1, 0, large), 2)
		sweep(nil, report(2, 1, 0, large), 3)
		if got := stored(t, table.Container()); len(got) != 1 || got[0] == before[0] {
			t.Errorf("blobs %v", got)
		}
		assert.NoError(t, table.Delete(ctx, jones, azcore.ETagAny))
		sweep(nil, report(1, 1, 1, 0), 3)
		time.Sleep(2 * day)
		sweep(nil, report(1, 1, 0, large), 3)
	})
}

func report(found, done, marked int, bytes int64) patterns.SweepReport {
	return patterns.SweepReport{Progress: patterns.Progress{Found: found, Done: done, Bytes: bytes}, Marked: marked}
}

// A sweep keeps the blobs of other tables and of rows of other types.
func TestASweepKeepsBlobsOfOthers(t *testing.T) {
	type contract struct {
		PartitionKey, RowKey string
		Scan                 []byte `table:",blob"`
	}
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, staff table) {
		ctx := t.Context()
		assert.Must(staff.Insert(ctx, newJones("a", large)))(t)
		contracts := open[contract](t, staff.Client(), staff.Container(), nil)
		assert.Must(contracts.Insert(ctx, &contract{"Sales", "contract", noise("c", large)}))(t)
		archive := open[employee](t, acct.Tables().NewClient("EmployeesArchive"), staff.Container(), nil)
		assert.NoError(t, archive.Create(ctx))
		assert.Must(archive.Insert(ctx, newJones("b", large)))(t)
		for _, name := range []string{"stranger", "employees/stranger.jpg", "employees/x/0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77"} {
			overwrite(t, staff, name, "not ours")
		}
		for range 3 {
			time.Sleep(2 * day)
			// A new Table does not know the name of its table yet.
			assert.Must(open[employee](t, staff.Client(), staff.Container(), nil).Sweep(ctx, nil))(t)
		}
		if got := stored(t, staff.Container()); len(got) != 6 {
			t.Errorf("blobs %v", got)
		}
		assert.Must(contracts.Get(ctx, contractKey))(t)
		assert.Must(archive.Get(ctx, jones))(t)
	})
}

var contractKey = keys.Key{Partition: "Sales", Row: "contract"}

// After a restored row refers to a marked blob again, a sweep removes the mark.
func TestASweepUnmarksAReferencedBlob(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		ctx := t.Context()
		assert.Must(table.Insert(ctx, newJones("a", large)))(t)
		copied := assert.Must(table.Table().Get(ctx, jones))(t)
		text := referencesIn(t, table)
		assert.NoError(t, table.Delete(ctx, jones, ""))
		time.Sleep(2 * day)
		if r := assert.Must(table.Sweep(ctx, nil))(t); r.Marked != 1 {
			t.Errorf("%+v", r)
		}
		restore := patterns.InsertOp(&copied.Value).With("azp_blobs", text)
		assert.Must(table.Table().Do(ctx, restore))(t)
		time.Sleep(2 * day)
		assert.Must(table.Sweep(ctx, nil))(t)
		assert.NoError(t, table.Delete(ctx, jones, ""))
		time.Sleep(2 * day)
		if r := assert.Must(table.Sweep(ctx, nil))(t); r.Marked != 1 || r.Done != 1 {
			t.Errorf("%+v, want a mark first", r)
		}
	})
}

// References that cannot be read may be to any blob.
func TestASweepStopsAtCorruptReferences(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		assert.Must(table.Insert(t.Context(), newJones("a", large)))(t)
		setReferences(t, table, `{"version":2}`)
		time.Sleep(2 * day)
		if r, err := table.Sweep(t.Context(), nil); !errors.Is(err, largeentity.ErrCorrupt) || r.Done != 0 {
			t.Errorf("%+v %v", r, err)
		}
	})
}

// The service's times have a resolution of one second, so on Azurite this takes some
// seconds; in virtual time it takes none.
func TestASweepWorksOnEveryBackend(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		table := open[employee](t, client, blobs, nil)
		ctx := t.Context()
		assert.Must(table.Insert(ctx, newJones("a", large)))(t)
		assert.Must(table.UpdateMeta(ctx, jones, func(e *employee) error { e.Photo = noise("b", large); return nil }))(t)
		b.ResetRequests()
		if r := assert.Must(table.Sweep(ctx, nil))(t); r.Found != 2 || r.Done != 0 {
			t.Errorf("%+v: new blobs were changed", r)
		}
		b.WantRequests(t, map[string]int{"Blob.List": 1})
		if b.InProcess() || b.Accelerated {
			return
		}
		hasty := open(t, client, blobs, &largeentity.Options[employee]{Grace: time.Nanosecond})
		for start := time.Now(); ; {
			r := assert.Must(hasty.Sweep(ctx, nil))(t)
			if r.Done-r.Marked == 1 {
				break
			}
			if time.Since(start) > time.Minute {
				t.Fatalf("after a minute %+v", r)
			}
			b.ResetRequests()
		}
		b.WantRequests(t, map[string]int{"Blob.List": 1, "Table.Query": 1, "Blob.Delete": 1})
		wantEmployee(t, assert.Must(table.Get(ctx, jones))(t).Value, *newJones("b", large))
	})
}
