package largeentity_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
)

// Each write is carried out and its reply lost; the SDK repeats it, and meets what the
// first try did.
func TestALostReplyIsNoFailure(t *testing.T) {
	for op, times := range map[string]int{"Blob.Put": 1, "Table.Insert": 1, "Table.Replace": 1, "Table.Delete": 1, "Blob.Get": 2, "Table.Get": 1} {
		t.Run(op, func(t *testing.T) {
			testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
				table := onBed(t, b, nil)
				ctx := t.Context()
				b.Fault(fault.On(op).Nth(1).Times(times).LoseReply())
				must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
				must[largeentity.Item[employee]](t)(table.Update(ctx, jones, func(e *employee) error {
					e.Photo = noise("b", large)
					return nil
				}))
				wantEmployee(t, must[largeentity.Item[employee]](t)(table.Get(ctx, jones)).Value, *newJones("b", large))
				if op == "Blob.Put" && !slices.ContainsFunc(b.Requests(), func(q fault.Request) bool { return q.Code == "BlobAlreadyExists" }) {
					t.Error("a blob was written over")
				}
				if n := len(stored(t, table.Container())); n != 2 {
					t.Errorf("%d blobs, want the old and the new", n)
				}
				if err := table.Delete(ctx, jones, ""); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// While it is not known whether the row refers to a blob, the blob stays.
func TestABlobOfUnknownFateStays(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		item := must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
		b.Fault(fault.On("Table.Replace").LoseReply(), fault.On("Table.Get").LoseRequest())
		item.Value.Photo = noise("b", large)
		if _, err := table.Replace(ctx, item); !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		b.ClearFaults()
		wantEmployee(t, must[largeentity.Item[employee]](t)(table.Get(ctx, jones)).Value, *newJones("b", large))
	})
}

// A writer that was refused takes its blobs away.
func TestALoserLeavesNothingBehind(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		first := must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
		if _, err := table.Insert(ctx, newJones("b", large)); !errors.Is(err, patterns.ErrExists) {
			t.Errorf("insert: %v", err)
		}
		first.Value.Age = 41
		must[largeentity.Item[employee]](t)(table.Replace(ctx, first))
		first.Value.Photo = noise("c", large)
		if _, err := table.Replace(ctx, first); !errors.Is(err, patterns.ErrConflict) {
			t.Errorf("replace: %v", err)
		}
		if names := stored(t, table.Container()); len(names) != 1 {
			t.Errorf("blobs %v, want that of the entity", names)
		}

		// Of an update that lost a race, the upload serves the next try.
		b.ResetRequests()
		tries := 0
		must[largeentity.Item[employee]](t)(table.Update(ctx, jones, func(e *employee) error {
			if tries++; tries == 1 {
				must[largeentity.Item[employee]](t)(table.UpdateMeta(ctx, jones, func(e *employee) error { e.Age = 42; return nil }))
			}
			e.Photo = noise("d", large)
			return nil
		}))
		if puts := b.Requests().Count("Blob.Put"); tries != 2 || puts != 1 {
			t.Errorf("%d tries, %d uploads", tries, puts)
		}
		want := newJones("d", large)
		want.Age = 42
		wantEmployee(t, must[largeentity.Item[employee]](t)(table.Get(ctx, jones)).Value, *want)

		// And one that its function gave up leaves none.
		before := len(stored(t, table.Container()))
		b.Fault(fault.On("Table.Replace").Nth(1).Status(412, "UpdateConditionNotSatisfied"))
		tries = 0
		if _, err := table.Update(ctx, jones, func(e *employee) error {
			e.Photo = noise("e", large)
			if tries++; tries > 1 {
				return patterns.ErrNotFound
			}
			return nil
		}); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if n := len(stored(t, table.Container())); n != before {
			t.Errorf("%d blobs, want %d", n, before)
		}
	})
}

// A connection that breaks is no end of the content.
func TestAReadGoesOnWhereTheConnectionBroke(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		e := newJones("a", large)
		must[largeentity.Item[employee]](t)(table.Insert(ctx, e))
		for _, cut := range []int64{0, 1, 50000, large - 1} {
			b.ClearFaults()
			b.Fault(fault.On("Blob.Get").Nth(1).Times(2).CutReply(cut))
			b.ResetRequests()
			wantEmployee(t, must[largeentity.Item[employee]](t)(table.Get(ctx, jones)).Value, *e)
			if n := b.Requests().Count("Blob.Get"); n < 2 {
				t.Errorf("cut at %d: %d requests", cut, n)
			}
		}
		b.ClearFaults()
		b.Fault(fault.On("Blob.Get").CutReply(10))
		if _, err := table.Get(ctx, jones); err == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("it breaks for ever: %v", err)
		}
	})
}

// A reader whose blob was swept under it reads the row again, and the new blob.
func TestAReaderThatWasTooSlowStartsOver(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		name := testbed.UniqueName()
		client, blobs := b.NamedTable(t, name), b.Container(t)
		ctx := t.Context()
		writer := open[employee](t, client, blobs, nil)
		item := must[largeentity.Item[employee]](t)(writer.Insert(ctx, newJones("a", large)))
		old, _ := item.Blob("Photo")
		reader := open[employee](t, b.Between(t, name, func(try int) {
			if try > 1 {
				return
			}
			item.Value.Photo = noise("b", large)
			must[largeentity.Item[employee]](t)(writer.Replace(ctx, item))
			if _, err := blobs.NewBlobClient(old.Name).Delete(ctx, nil); err != nil {
				t.Error(err)
			}
		}), blobs, nil)
		wantEmployee(t, must[largeentity.Item[employee]](t)(reader.Get(ctx, jones)).Value, *newJones("b", large))
	})
}
