package patterns_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestEveryOperationIsOneRequestAndReturnsWhatIsStored(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")

		// same checks that a read returns what the write has returned.
		same := func(step string, wrote patterns.Item[harness.Person]) patterns.Item[harness.Person] {
			t.Helper()
			read := harness.Get(t, table, ann.Key())
			if read.ETag == "" || read.ETag != wrote.ETag {
				t.Errorf("%s returned the ETag %q, the row has %q", step, wrote.ETag, read.ETag)
			}
			assert.DeepEqual(t, read.Value, wrote.Value, step, "returned", "the row is")
			assert.Equal(t, read.Key, ann.Key())
			assert.Equal(t, wrote.Key, ann.Key())
			if time.Since(read.Timestamp).Abs() > time.Hour || !wrote.Timestamp.IsZero() {
				t.Errorf("%s: timestamps %v read, %v written", step, read.Timestamp, wrote.Timestamp)
			}
			b.ResetRequests()
			return read
		}

		item, err := table.Insert(ctx, &ann)
		assert.NoError(t, err)
		b.WantRequestCount(t, 1)
		item = same("insert", item)
		_, err = table.Insert(ctx, &ann)
		assert.WantError(t, err, patterns.ErrExists)
		b.WantRequestCount(t, 1)

		assert.NoError(t, assert.ErrorOf(table.Get(ctx, ann.Key())))
		b.WantRequestCount(t, 1)
		_, err = table.Get(ctx, keys.Key{Partition: "sales", Row: "nobody"})
		assert.WantError(t, err, patterns.ErrNotFound)
		b.WantRequestCount(t, 1)

		old := item
		item.Value.Age++
		if item, err = table.Replace(ctx, item); err != nil {
			t.Fatal(err)
		}
		b.WantRequestCount(t, 1)
		same("replace", item)
		_, err = table.Replace(ctx, old)
		assert.WantError(t, err, patterns.ErrConflict)
		_, err = table.Merge(ctx, old)
		assert.WantError(t, err, patterns.ErrConflict)
		b.WantRequestCount(t, 2)

		item.Value.Note = "merged"
		if item, err = table.Merge(ctx, item); err != nil {
			t.Fatal(err)
		}
		b.WantRequestCount(t, 1)
		same("merge", item)

		if item, err = table.Update(ctx, ann.Key(), func(p *harness.Person) error { p.Age++; return nil }); err != nil {
			t.Fatal(err)
		}
		b.WantRequestCount(t, 2)
		same("update", item)

		for _, mode := range []patterns.Mode{patterns.Merge, patterns.Replace} {
			v := item.Value
			v.Age++
			if item, err = table.Upsert(ctx, &v, mode); err != nil {
				t.Fatal(err)
			}
			b.WantRequestCount(t, 1)
			same("upsert", item)
		}

		assert.WantError(t, table.Delete(ctx, ann.Key(), old.ETag), patterns.ErrConflict)
		assert.NoError(t, table.Delete(ctx, ann.Key(), item.ETag))
		b.WantRequestCount(t, 2)
		assert.Equal(t, table.Delete(ctx, ann.Key(), ""), nil, "delete of a missing row")
		assert.WantError(t, table.Delete(ctx, ann.Key(), azcore.ETagAny), patterns.ErrNotFound)
		assert.WantError(t, table.Delete(ctx, ann.Key(), item.ETag), patterns.ErrNotFound)
		_, err = table.Replace(ctx, item)
		assert.WantError(t, err, patterns.ErrNotFound)
		b.WantRequestCount(t, 4)
		item = assert.Must(table.Upsert(ctx, &ann, patterns.Merge))(t)
		same("upsert of a new row", item)
	})
}

func TestUpsertMergeKeepsPropertiesAndReplaceRemovesThem(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		ann.Note = "kept by a merge"
		harness.Insert(t, table, ann)
		bare := ann
		bare.Note = "" // omitted when empty
		assert.NoError(t, assert.ErrorOf(table.Upsert(t.Context(), &bare, patterns.Merge)))
		assert.Equal(t, harness.Get(t, table, ann.Key()).Value.Note, ann.Note, "after a merge the note is")
		assert.NoError(t, assert.ErrorOf(table.Upsert(t.Context(), &bare, patterns.Replace)))
		assert.Equal(t, harness.Get(t, table, ann.Key()).Value.Note, "", "after a replace the note is")
	})
}

func TestZeroOptionsEqualNilOptions(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		harness.Insert(t, harness.NewTable(t, client, &patterns.TableOptions[harness.Person]{}), harness.NewPerson("ann"))
		if got := harness.Get(t, harness.NewTable[harness.Person](t, client, nil), harness.NewPerson("ann").Key()).Value; got.Age != 42 {
			t.Errorf("read %+v", got)
		}
		assert.Equal(t, harness.NewTable[harness.Person](t, client, nil).Client(), client, "Client returns another client")
	})
}

// The retry of the SDK finds no table.
func TestDropSucceedsIfItsReplyIsLost(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		b.Fault(storagetest.On("Table.DeleteTable").Nth(1).LoseReply())
		assert.Equal(t, table.Drop(t.Context()), nil)
		assert.Equal(t, table.Drop(t.Context()), nil, "again")
		_, err := table.Get(t.Context(), tally)
		assert.WantError(t, err, patterns.ErrTableNotFound)
	})
}

func TestAnEndedContextSendsNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		item := harness.Insert(t, table, harness.NewPerson("ann"))
		ann := item.Value
		b.ResetRequests()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancelLate()
		for ctx, want := range map[context.Context]error{ctx: context.Canceled, late: context.DeadlineExceeded} {
			_, insertErr := table.Insert(ctx, &ann)
			_, upsertErr := table.Upsert(ctx, &ann, patterns.Merge)
			_, getErr := table.Get(ctx, ann.Key())
			_, replaceErr := table.Replace(ctx, item)
			_, mergeErr := table.Merge(ctx, item)
			_, updateErr := table.Update(ctx, ann.Key(), func(*harness.Person) error { return nil })
			_, batchErr := table.Batch().Insert(&ann).Commit(ctx)
			_, emptyErr := table.Batch().Commit(ctx)
			for what, err := range map[string]error{
				"insert": insertErr, "upsert": upsertErr, "get": getErr, "replace": replaceErr, "merge": mergeErr, "update": updateErr,
				"delete": table.Delete(ctx, ann.Key(), ""), "batch": batchErr, "empty batch": emptyErr, "create": table.Create(ctx),
			} {
				if !errors.Is(err, want) || errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("%s: got %v", what, err)
				}
				assert.WantHidden(t, err, "ann", "sales")
			}
		}
		b.WantRequestCount(t, 0)
	})
}
