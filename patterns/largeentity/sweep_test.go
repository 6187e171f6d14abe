package largeentity_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

const day = 24 * time.Hour

// inVirtualTime runs body in a bubble, with the table and container made.
func inVirtualTime(t *testing.T, opts *largeentity.Options[employee], body func(t *testing.T, acct *storagetest.Account, table table)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		table := onAccount(t, acct, opts)
		if err := table.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := table.Create(t.Context()); err != nil {
			t.Errorf("create what exists: %v", err)
		}
		body(t, acct, table)
	})
}

func TestASweepMarksThenDeletes(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		ctx := t.Context()
		item := must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
		time.Sleep(100 * day) // an old blob
		before := stored(t, table.Container())
		item.Value.Photo = noise("b", large)
		must[largeentity.Item[employee]](t)(table.Replace(ctx, item))
		all := stored(t, table.Container())
		stored(t, table.Container())

		sweep := func(opts *largeentity.SweepOptions, want largeentity.SweepReport, requests int) {
			t.Helper()
			acct.ResetLog()
			last := largeentity.SweepReport{}
			o := largeentity.SweepOptions{}
			if opts != nil {
				o = *opts
			}
			o.Progress = func(r largeentity.SweepReport) { last = r }
			got := must[largeentity.SweepReport](t)(table.Sweep(ctx, &o))
			if got != want {
				t.Errorf("report %+v, want %+v", got, want)
			}
			if last.Marked != want.Marked || last.Deleted != want.Deleted || last.Blobs != want.Blobs {
				t.Errorf("progress %+v, want %+v", last, want)
			}
			if n := len(acct.Log()); n != requests {
				t.Errorf("%d requests, want %d:\n%v", n, requests, acct.Log())
			}
		}
		sweep(&largeentity.SweepOptions{Grace: 200 * day}, largeentity.SweepReport{Blobs: 2}, 1)
		sweep(&largeentity.SweepOptions{DryRun: true}, largeentity.SweepReport{Blobs: 2, Rows: 1, Marked: 1}, 2)
		sweep(nil, largeentity.SweepReport{Blobs: 2, Rows: 1, Marked: 1}, 3)
		// The reader of the old row has a day from now.
		time.Sleep(day - time.Minute)
		sweep(nil, largeentity.SweepReport{Blobs: 2}, 1)
		if got := stored(t, table.Container()); !slices.Equal(got, all) {
			t.Fatalf("blobs %v, want %v", got, all)
		}
		time.Sleep(time.Hour)
		sweep(&largeentity.SweepOptions{DryRun: true}, largeentity.SweepReport{Blobs: 2, Rows: 1, Deleted: 1, Bytes: large}, 2)
		sweep(nil, largeentity.SweepReport{Blobs: 2, Rows: 1, Deleted: 1, Bytes: large}, 3)
		if got := stored(t, table.Container()); len(got) != 1 || got[0] == before[0] {
			t.Errorf("blobs %v", got)
		}
		if err := table.Delete(ctx, jones, azcore.ETagAny); err != nil {
			t.Fatal(err)
		}
		sweep(nil, largeentity.SweepReport{Blobs: 1, Marked: 1}, 3)
		time.Sleep(2 * day)
		sweep(nil, largeentity.SweepReport{Blobs: 1, Deleted: 1, Bytes: large}, 3)
	})
}

// Tables that share a container, and rows of other types, keep what is theirs.
func TestASweepLeavesWhatOthersReferTo(t *testing.T) {
	type contract struct {
		PartitionKey, RowKey string
		Scan                 []byte `table:",blob"`
	}
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, staff table) {
		ctx := t.Context()
		must[largeentity.Item[employee]](t)(staff.Insert(ctx, newJones("a", large)))
		contracts := open[contract](t, staff.Client(), staff.Container(), nil)
		must[largeentity.Item[contract]](t)(contracts.Insert(ctx, &contract{"Sales", "contract", noise("c", large)}))
		archive := open[employee](t, acct.Tables().NewClient("EmployeesArchive"), staff.Container(), nil)
		if err := archive.Create(ctx); err != nil {
			t.Fatal(err)
		}
		must[largeentity.Item[employee]](t)(archive.Insert(ctx, newJones("b", large)))
		for _, name := range []string{"stranger", "employees/stranger.jpg", "employees/x/0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77"} {
			overwrite(t, staff, name, "not ours")
		}
		for range 3 {
			time.Sleep(2 * day)
			// A new Table does not know its name yet.
			must[largeentity.SweepReport](t)(open[employee](t, staff.Client(), staff.Container(), nil).Sweep(ctx, nil))
		}
		if got := stored(t, staff.Container()); len(got) != 6 {
			t.Errorf("blobs %v", got)
		}
		must[largeentity.Item[contract]](t)(contracts.Get(ctx, contractKey))
		must[largeentity.Item[employee]](t)(archive.Get(ctx, jones))
	})
}

// A mark on a blob that is referred to again, as after a restore, is taken off.
func TestAMarkIsTakenOffWhatIsReferredToAgain(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		ctx := t.Context()
		must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
		copied := must[patterns.Item[employee]](t)(table.Table().Get(ctx, jones))
		text := referencesIn(t, table)
		if err := table.Delete(ctx, jones, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * day)
		if r := must[largeentity.SweepReport](t)(table.Sweep(ctx, nil)); r.Marked != 1 {
			t.Errorf("%+v", r)
		}
		restore := patterns.InsertOp(&copied.Value).With("azp_blobs", text)
		must[patterns.Item[employee]](t)(table.Table().Do(ctx, restore))
		time.Sleep(2 * day)
		must[largeentity.SweepReport](t)(table.Sweep(ctx, nil))
		if err := table.Delete(ctx, jones, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * day)
		if r := must[largeentity.SweepReport](t)(table.Sweep(ctx, nil)); r.Marked != 1 || r.Deleted != 0 {
			t.Errorf("%+v, want a mark first", r)
		}
	})
}

// References that cannot be read may be to anything.
func TestASweepStopsAtWhatItCannotRead(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		must[largeentity.Item[employee]](t)(table.Insert(t.Context(), newJones("a", large)))
		setReferences(t, table, `{"version":2}`)
		time.Sleep(2 * day)
		if r, err := table.Sweep(t.Context(), nil); !errors.Is(err, largeentity.ErrCorrupt) || r.Marked+r.Deleted != 0 {
			t.Errorf("%+v %v", r, err)
		}
	})
}

// A writer is never caught by a sweep between the blob and the row, however slow it is
// and whatever is slow about it: it is in time, or it fails.
func TestASlowWriterIsInTimeOrFails(t *testing.T) {
	for _, c := range []struct {
		rule  storagetest.Rule
		fails bool
	}{
		{storagetest.On("Blob.Put").DelayReply(11 * time.Hour), false},
		{storagetest.On("Blob.Put").Delay(10 * time.Minute), false},
		{storagetest.On("Blob.Put").DelayReply(13 * time.Hour), true},
		{storagetest.On("Blob.Put").DelayReply(40 * day), true},
		{storagetest.On("Table.Replace").Delay(10 * time.Minute), false},
		{storagetest.On("Table.Replace").DelayReply(11 * time.Hour), false},
		{storagetest.On("Table.Replace").Delay(40 * day), true},
		{storagetest.On("Table.Replace").DelayReply(40 * day), true}, // but it was written
	} {
		t.Run(c.rule.String(), func(t *testing.T) {
			inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
				ctx := t.Context()
				item := must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
				stop := make(chan struct{})
				swept := make(chan struct{})
				go func() {
					defer close(swept)
					for {
						select {
						case <-stop:
							return
						case <-time.After(time.Hour):
							must[largeentity.SweepReport](t)(table.Sweep(ctx, nil))
						}
					}
				}()
				acct.Fault(c.rule)
				item.Value.Photo = noise("b", large)
				_, err := table.Replace(ctx, item)
				if (err != nil) != c.fails {
					t.Errorf("got %v", err)
				}
				if err != nil && !errors.Is(err, largeentity.ErrTooSlow) && !errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("got %v", err)
				}
				acct.ClearFaults()
				time.Sleep(5 * day)
				close(stop)
				<-swept
				got := must[largeentity.Item[employee]](t)(table.Get(ctx, jones))
				if a, b := newJones("a", large), newJones("b", large); !same(got.Value, *a) && !same(got.Value, *b) || err == nil && !same(got.Value, *b) {
					t.Error("neither the old nor the new photo")
				}
				if names := stored(t, table.Container()); len(names) != 1 {
					t.Errorf("blobs %v", names)
				}
			})
		})
	}
}

// The service's times are of whole seconds, so that this takes some on Azurite; in
// virtual time they are free.
func TestASweepOnEveryBackend(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		table := open[employee](t, client, blobs, nil)
		ctx := t.Context()
		must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
		must[largeentity.Item[employee]](t)(table.UpdateMeta(ctx, jones, func(e *employee) error { e.Photo = noise("b", large); return nil }))
		b.ResetRequests()
		if r := must[largeentity.SweepReport](t)(table.Sweep(ctx, nil)); r != (largeentity.SweepReport{Blobs: 2}) {
			t.Errorf("%+v: blobs of today were touched", r)
		}
		wantRequests(t, b, map[string]int{"Blob.List": 1})
		if b.InProcess() || b.Accelerated {
			return
		}
		hasty := open(t, client, blobs, &largeentity.Options[employee]{Grace: time.Nanosecond})
		for start := time.Now(); ; {
			r := must[largeentity.SweepReport](t)(hasty.Sweep(ctx, nil))
			if r.Deleted == 1 {
				break
			}
			if time.Since(start) > time.Minute {
				t.Fatalf("after a minute %+v", r)
			}
			b.ResetRequests()
		}
		wantRequests(t, b, map[string]int{"Blob.List": 1, "Table.Query": 1, "Blob.Delete": 1})
		wantEmployee(t, must[largeentity.Item[employee]](t)(table.Get(ctx, jones)).Value, *newJones("b", large))
	})
}

// An upload that a lost race has made old is not relied on.
func TestAnUpdateUploadsAnewWhatHasBecomeOld(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		ctx := t.Context()
		must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
		acct.ResetLog()
		acct.Fault(storagetest.On("Table.Replace").Nth(1).Delay(5*time.Minute).Status(412, "UpdateConditionNotSatisfied"),
			storagetest.On("Table.Get").Nth(2).DelayReply(11*time.Hour),
			storagetest.On("Table.Replace").Nth(2).DelayReply(2*time.Hour))
		must[largeentity.Item[employee]](t)(table.Update(ctx, jones, func(e *employee) error { e.Photo = noise("b", large); return nil }))
		if n := acct.Log().Count("Blob.Put"); n != 2 {
			t.Errorf("%d uploads, want 2", n)
		}
		wantEmployee(t, must[largeentity.Item[employee]](t)(table.Get(ctx, jones)).Value, *newJones("b", large))
		if names := stored(t, table.Container()); len(names) != 2 {
			t.Errorf("blobs %v, want the old and the new", names)
		}
	})
}
