package patterns_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestEveryOperationRoundTripsInOneRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := people(t, b)
		ann := somebody("ann")

		// same asserts that what a write returned is what a read then finds.
		same := func(step string, wrote patterns.Item[person]) patterns.Item[person] {
			t.Helper()
			read := get(t, table, ann.key())
			if read.ETag == "" || read.ETag != wrote.ETag {
				t.Errorf("%s returned the ETag %q, the row has %q", step, wrote.ETag, read.ETag)
			}
			if !reflect.DeepEqual(read.Value, wrote.Value) {
				t.Errorf("%s returned %+v, the row is %+v", step, wrote.Value, read.Value)
			}
			if read.Key != ann.key() || wrote.Key != ann.key() {
				t.Errorf("%s: keys %v and %v", step, wrote.Key, read.Key)
			}
			if time.Since(read.Timestamp).Abs() > time.Hour || !wrote.Timestamp.IsZero() {
				t.Errorf("%s: timestamps %v read, %v written", step, read.Timestamp, wrote.Timestamp)
			}
			b.ResetRequests()
			return read
		}

		item, err := table.Insert(ctx, &ann)
		if err != nil {
			t.Fatal(err)
		}
		cost(t, b, 1)
		item = same("insert", item)
		_, err = table.Insert(ctx, &ann)
		wantError(t, err, patterns.ErrExists)
		cost(t, b, 1)

		if _, err := table.Get(ctx, ann.key()); err != nil {
			t.Fatal(err)
		}
		cost(t, b, 1)
		_, err = table.Get(ctx, keys.Key{Partition: "sales", Row: "nobody"})
		wantError(t, err, patterns.ErrNotFound)
		cost(t, b, 1)

		old := item
		item.Value.Age++
		if item, err = table.Replace(ctx, item); err != nil {
			t.Fatal(err)
		}
		cost(t, b, 1)
		same("replace", item)
		_, err = table.Replace(ctx, old)
		wantError(t, err, patterns.ErrConflict)
		_, err = table.Merge(ctx, old)
		wantError(t, err, patterns.ErrConflict)
		cost(t, b, 2)

		item.Value.Note = "merged"
		if item, err = table.Merge(ctx, item); err != nil {
			t.Fatal(err)
		}
		cost(t, b, 1)
		same("merge", item)

		if item, err = table.Update(ctx, ann.key(), func(p *person) error { p.Age++; return nil }); err != nil {
			t.Fatal(err)
		}
		cost(t, b, 2)
		same("update", item)

		for _, mode := range []patterns.Mode{patterns.Merge, patterns.Replace} {
			v := item.Value
			v.Age++
			if item, err = table.Upsert(ctx, &v, mode); err != nil {
				t.Fatal(err)
			}
			cost(t, b, 1)
			same("upsert", item)
		}

		wantError(t, table.Delete(ctx, ann.key(), old.ETag), patterns.ErrConflict)
		if err := table.Delete(ctx, ann.key(), item.ETag); err != nil {
			t.Fatal(err)
		}
		cost(t, b, 2)
		if err := table.Delete(ctx, ann.key(), ""); err != nil {
			t.Errorf("delete of a missing row: %v", err)
		}
		wantError(t, table.Delete(ctx, ann.key(), azcore.ETagAny), patterns.ErrNotFound)
		wantError(t, table.Delete(ctx, ann.key(), item.ETag), patterns.ErrNotFound)
		_, err = table.Replace(ctx, item)
		wantError(t, err, patterns.ErrNotFound)
		cost(t, b, 4)
		item, err = table.Upsert(ctx, &ann, patterns.Merge)
		if err != nil {
			t.Fatal(err)
		}
		same("upsert of a new row", item)
	})
}

func TestUpsertMergeKeepsAndReplaceRemoves(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := people(t, b)
		ann := somebody("ann")
		ann.Note = "kept by a merge"
		insert(t, table, ann)
		bare := ann
		bare.Note = "" // omitted when empty
		if _, err := table.Upsert(t.Context(), &bare, patterns.Merge); err != nil {
			t.Fatal(err)
		}
		if got := get(t, table, ann.key()).Value.Note; got != ann.Note {
			t.Errorf("after a merge the note is %q", got)
		}
		if _, err := table.Upsert(t.Context(), &bare, patterns.Replace); err != nil {
			t.Fatal(err)
		}
		if got := get(t, table, ann.key()).Value.Note; got != "" {
			t.Errorf("after a replace the note is %q", got)
		}
	})
}

func TestProjectedItemsMergeTheirPartAndNeverReplace(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := people(t, b)
		ann := somebody("ann")
		insert(t, table, ann)
		var item patterns.Item[person]
		for it, err := range table.Query(ctx, partitionIs("sales"), &patterns.QueryOptions{Select: []string{"Age"}}) {
			if err != nil {
				t.Fatal(err)
			}
			item = it
		}
		if !item.Projected() || item.Value.Age != ann.Age || item.Value.Badge != 0 {
			t.Fatalf("read %+v", item)
		}
		b.ResetRequests()
		_, err := table.Replace(ctx, item)
		wantError(t, err, patterns.ErrProjected)
		_, err = table.Batch().Replace(item).Commit(ctx)
		wantError(t, err, patterns.ErrProjected)
		cost(t, b, 0)

		item.Value.Age++
		merged, err := table.Merge(ctx, item)
		if err != nil {
			t.Fatal(err)
		}
		_, err = table.Replace(ctx, merged)
		wantError(t, err, patterns.ErrProjected)
		merged.Value.Age++
		if _, err := table.Batch().Merge(merged).Commit(ctx); err != nil {
			t.Fatal(err)
		}
		ann.Age += 2
		if got := get(t, table, ann.key()).Value; !reflect.DeepEqual(got, ann) {
			t.Errorf("the row is %+v, want %+v", got, ann)
		}
	})
}

// existing is a struct as programs on aztables have it.
type existing struct {
	aztables.Entity
	Age   int32
	Big   aztables.EDMInt64
	When  aztables.EDMDateTime `json:"when"`
	ID    aztables.EDMGUID
	Bytes aztables.EDMBinary
	Skip  string `json:"-"`
	Maybe string `json:"maybe,omitempty"`
}

func TestStructsOfExistingAztablesCodeWorkUnchanged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := newTable[existing](t, b.Table(t), nil)
		v := existing{
			Entity: aztables.Entity{PartitionKey: "p", RowKey: "r"},
			Age:    7, Big: 1<<62 + 1, ID: "0f8fad5b-d9cb-469f-a165-70867728950e", Bytes: []byte("x"), Skip: "not stored",
			When: aztables.EDMDateTime(time.Date(2024, 1, 2, 3, 4, 5, 600, time.UTC)),
		}
		insert(t, table, v)
		key := keys.Key{Partition: "p", Row: "r"}
		item, err := table.Update(t.Context(), key, func(e *existing) error { e.Age++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		got := get(t, table, key)
		if got.ETag != item.ETag || got.Value.Age != 8 || got.Value.Big != v.Big || got.Value.ID != v.ID ||
			string(got.Value.Bytes) != "x" || !time.Time(got.Value.When).Equal(time.Time(v.When)) || got.Value.Skip != "" {
			t.Errorf("read %+v", got.Value)
		}
		if got.Value.PartitionKey != "p" || got.Value.RowKey != "r" {
			t.Errorf("keys %+v", got.Value.Entity)
		}
	})
}

func TestZeroOptionsAreNilOptions(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		insert(t, newTable(t, client, &patterns.TableOptions[person]{}), somebody("ann"))
		if got := get(t, newTable[person](t, client, nil), somebody("ann").key()).Value; got.Age != 42 {
			t.Errorf("read %+v", got)
		}
		if newTable[person](t, client, nil).Client() != client {
			t.Error("Client gives another client")
		}
	})
}
