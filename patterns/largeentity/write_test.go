package largeentity_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestInvalidArgumentsAreRefusedWithoutARequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		item := assert.Must(table.Insert(ctx, newJones("a", large)))(t)
		b.ResetRequests()
		change := func(f func(*largeentity.Item[employee])) error {
			other := item
			other.Value.Photo = noise("b", large)
			f(&other)
			return assert.ErrorOf(table.Replace(ctx, other))
		}
		insert := func(f func(*employee)) error {
			e := newJones("c", large)
			f(e)
			return assert.ErrorOf(table.Insert(ctx, e))
		}
		var property *patterns.PropertyError
		for name, c := range map[string]struct {
			err  error
			want func(error) bool
		}{
			"nil":              {assert.ErrorOf(table.Insert(ctx, nil)), is(patterns.ErrNil)},
			"no function":      {assert.ErrorOf(table.Update(ctx, jones, nil)), is(patterns.ErrNil)},
			"bad key":          {insert(func(e *employee) { e.Email = "a/b" }), is(patterns.ErrBadKey)},
			"bad text":         {insert(func(e *employee) { e.Notes = "\xff" + strings.Repeat("x", large) }), as(&property)},
			"no ETag":          {change(func(i *largeentity.Item[employee]) { i.ETag = "" }), is(patterns.ErrBadETag)},
			"any ETag":         {change(func(i *largeentity.Item[employee]) { i.ETag = azcore.ETagAny }), is(patterns.ErrBadETag)},
			"another key":      {change(func(i *largeentity.Item[employee]) { i.Value.Email = "x" }), is(patterns.ErrKeyChanged)},
			"unknown property": {assert.ErrorOf(table.Load(ctx, item, "Age")), as(&property)},
			"short grace":      {assert.ErrorOf(table.Sweep(ctx, &patterns.SweepOptions{OlderThan: time.Second})), is(patterns.ErrBadOption)},
		} {
			if c.err == nil || !c.want(c.err) {
				t.Errorf("%s: %v", name, c.err)
			}
		}
		b.WantRequests(t, map[string]int{})
		type doc struct {
			PartitionKey, RowKey string
			V                    any `table:",blob"`
		}
		docs := open[doc](t, b.Table(t), b.Container(t), nil)
		if _, err := docs.Insert(ctx, &doc{"p", "r", make(chan int)}); !errors.As(err, &property) {
			t.Errorf("a channel as JSON: %v", err)
		}
		b.WantRequests(t, map[string]int{})
	})
}

func is(want error) func(error) bool  { return func(err error) bool { return errors.Is(err, want) } }
func as[E any](e *E) func(error) bool { return func(err error) bool { return errors.As(err, e) } }

func TestARowThatIsTooLargeIsRefusedBeforeTheUpload(t *testing.T) {
	type wide struct {
		PartitionKey, RowKey string
		Unknown              map[string]any `table:",bag"`
		Photo                []byte         `table:",blob"`
	}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := open[wide](t, b.Table(t), b.Container(t), nil)
		w := &wide{PartitionKey: "p", RowKey: "r", Unknown: map[string]any{}, Photo: noise("a", large)}
		for i := range 20 {
			w.Unknown[fmt.Sprintf("B%d", i)] = noise("b", 60000)
		}
		assert.WantError(t, assert.ErrorOf(table.Insert(t.Context(), w)), patterns.ErrTooLarge)
		b.WantRequests(t, map[string]int{})
	})
}

// Each request is carried out and its reply is lost. The SDK repeats the request, which then
// finds the result of the first try.
func TestALostReplyDoesNotFailTheCall(t *testing.T) {
	for op, times := range map[string]int{"Blob.Put": 1, "Table.Insert": 1, "Table.Replace": 1, "Table.Delete": 1, "Blob.Get": 2, "Table.Get": 1} {
		t.Run(op, func(t *testing.T) {
			harness.Run(t, func(t *testing.T, b *harness.Backend) {
				table := onBed(t, b, nil)
				ctx := t.Context()
				b.Fault(storagetest.On(op).Nth(1).Times(times).LoseReply())
				assert.Must(table.Insert(ctx, newJones("a", large)))(t)
				assert.Must(table.Update(ctx, jones, func(e *employee) error {
					e.Photo = noise("b", large)
					return nil
				}))(t)
				wantEmployee(t, assert.Must(table.Get(ctx, jones))(t).Value, *newJones("b", large))
				if op == "Blob.Put" && !slices.ContainsFunc(b.Requests(), func(q storagetest.Request) bool { return q.Code == "BlobAlreadyExists" }) {
					t.Error("a blob was overwritten")
				}
				assert.Equal(t, len(stored(t, table.Container())), 2, "blobs, the old and the new,")
				assert.NoError(t, table.Delete(ctx, jones, ""))
			})
		})
	}
}

// If the row may refer to an uploaded blob, the blob is not deleted.
func TestABlobIsKeptIfTheOutcomeIsUnknown(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		item := assert.Must(table.Insert(ctx, newJones("a", large)))(t)
		b.Fault(storagetest.On("Table.Replace").LoseReply(), storagetest.On("Table.Get").LoseRequest())
		item.Value.Photo = noise("b", large)
		assert.WantError(t, assert.ErrorOf(table.Replace(ctx, item)), patterns.ErrOutcomeUnknown)
		b.ClearFaults()
		wantEmployee(t, assert.Must(table.Get(ctx, jones))(t).Value, *newJones("b", large))
	})
}

func TestARefusedWriteDeletesItsBlobs(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		first := assert.Must(table.Insert(ctx, newJones("a", large)))(t)
		assert.WantError(t, assert.ErrorOf(table.Insert(ctx, newJones("b", large))), patterns.ErrExists, "insert")
		first.Value.Age = 41
		assert.Must(table.Replace(ctx, first))(t)
		first.Value.Photo = noise("c", large)
		assert.WantError(t, assert.ErrorOf(table.Replace(ctx, first)), patterns.ErrConflict, "replace")
		if names := stored(t, table.Container()); len(names) != 1 {
			t.Errorf("blobs %v, want that of the entity", names)
		}

		// An update that is retried after a conflict uses the blob of its first try.
		b.ResetRequests()
		tries := 0
		assert.Must(table.Update(ctx, jones, func(e *employee) error {
			if tries++; tries == 1 {
				assert.Must(table.UpdateMeta(ctx, jones, func(e *employee) error { e.Age = 42; return nil }))(t)
			}
			e.Photo = noise("d", large)
			return nil
		}))(t)
		if puts := b.Requests().Count("Blob.Put"); tries != 2 || puts != 1 {
			t.Errorf("%d tries, %d uploads", tries, puts)
		}
		want := newJones("d", large)
		want.Age = 42
		wantEmployee(t, assert.Must(table.Get(ctx, jones))(t).Value, *want)

		// An update that its function ends deletes the blob of its first try.
		before := len(stored(t, table.Container()))
		b.Fault(storagetest.On("Table.Replace").Nth(1).Status(412, "UpdateConditionNotSatisfied"))
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
		assert.Equal(t, len(stored(t, table.Container())), before, "blobs")
	})
}

// A retry after a long time uploads again: the first blob may be swept before the row is
// written.
func TestAnUpdateRepeatsAnOldUpload(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, table table) {
		ctx := t.Context()
		assert.Must(table.Insert(ctx, newJones("a", large)))(t)
		acct.ResetLog()
		acct.Fault(storagetest.On("Table.Replace").Nth(1).Delay(5*time.Minute).Status(412, "UpdateConditionNotSatisfied"),
			storagetest.On("Table.Get").Nth(2).DelayReply(11*time.Hour),
			storagetest.On("Table.Replace").Nth(2).DelayReply(2*time.Hour))
		assert.Must(table.Update(ctx, jones, func(e *employee) error { e.Photo = noise("b", large); return nil }))(t)
		assert.Equal(t, acct.Log().Count("Blob.Put"), 2, "uploads")
		wantEmployee(t, assert.Must(table.Get(ctx, jones))(t).Value, *newJones("b", large))
		if names := stored(t, table.Container()); len(names) != 2 {
			t.Errorf("blobs %v, want the old and the new", names)
		}
	})
}
