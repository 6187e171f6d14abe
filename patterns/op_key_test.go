package patterns_test

import (
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

func TestKeylessEntitiesAreWrittenAtTheKeyOfTheOperation(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := assert.Must(patterns.NewTable(b.Table(t), &patterns.TableOptions[keylessEntity]{Keyless: true}))(t)
		if _, known := table.URL(); known {
			t.Error("the address is known before any request")
		}
		key := keys.Key{Partition: "p", Row: "r"}
		inserted, err := table.Do(ctx, patterns.InsertOp(&keylessEntity{"a", 1}).At(key))
		if err != nil || inserted.Key != key || inserted.ETag == "" || inserted.Value.Name != "a" {
			t.Fatalf("inserted %+v, %v", inserted, err)
		}
		if url, known := table.URL(); !known || url == "" {
			t.Error("the address is not known after a request")
		}
		assert.WantError(t, assert.ErrorOf(table.Do(ctx, patterns.InsertOp(&keylessEntity{"b", 1}).At(key))), patterns.ErrExists, "insert again")
		assert.Equal(t, assert.ErrorOf(table.Do(ctx, patterns.UpsertOp(&keylessEntity{"c", 2}, patterns.Merge).At(key))), nil, "upsert")
		assert.WantError(t, assert.ErrorOf(table.Do(ctx, patterns.ReplaceOp(inserted))), patterns.ErrConflict, "replace of an old version")
		item, err := table.Update(ctx, key, func(p *keylessEntity) error { p.Count++; return nil })
		assert.NoError(t, err)
		assert.Equal(t, item.Value, keylessEntity{"c", 3})
		item.Value.Name = "d"
		if item, err = table.Merge(ctx, item); err != nil || item.Key != key {
			t.Errorf("merged %+v, %v", item, err)
		}
		other := keys.Key{Partition: "p", Row: "s"}
		batch := table.Batch().Add(patterns.InsertOp(&keylessEntity{"e", 5}).At(other)).Replace(item)
		assert.Equal(t, assert.ErrorOf(batch.Commit(ctx)), nil, "batch")
		for range 2 { // a delete with the ETag "" also succeeds if the row does not exist
			assert.Equal(t, assert.Must(table.Do(ctx, patterns.DeleteOp[keylessEntity](other, "")))(t).Key, other)
		}
		if _, err := table.Do(ctx, patterns.DeleteOp[keylessEntity](other, "*")); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("delete of what must exist: %v", err)
		}
	})
}

func TestTheKeyOfAnOperationIsCheckedBeforeAnyRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := assert.Must(patterns.NewTable(b.Table(t), &patterns.TableOptions[keylessEntity]{Keyless: true}))(t)
		bad := keys.Key{Partition: "a/b"}
		for _, c := range []struct {
			name string
			op   patterns.Op[keylessEntity]
			want error
		}{
			{"no key", patterns.InsertOp(&keylessEntity{}), patterns.ErrBadKey},
			{"no key for an upsert", patterns.UpsertOp(&keylessEntity{}, patterns.Replace), patterns.ErrBadKey},
			{"bad key", patterns.InsertOp(&keylessEntity{}).At(bad), patterns.ErrBadKey},
			{"bad key of an item", patterns.MergeOp(patterns.Item[keylessEntity]{Key: bad, ETag: "*"}), patterns.ErrBadKey},
			{"no value", patterns.InsertOp[keylessEntity](nil).At(keys.Key{}), patterns.ErrNil},
		} {
			assert.WantError(t, assert.ErrorOf(table.Do(ctx, c.op)), c.want, c.name)
		}
		assert.Equal(t, len(b.Requests()), 0, "requests")
	})
}

func TestAtOverridesTheKeyOfTheValue(t *testing.T) {
	type row struct{ PartitionKey, RowKey, Name string }
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := assert.Must(patterns.NewTable[row](b.Table(t), nil))(t)
		key := keys.Key{Partition: "p", Row: "given"}
		assert.NoError(t, assert.ErrorOf(table.Do(t.Context(), patterns.InsertOp(&row{"p", "own", "a"}).At(key))))
		item, err := table.Get(t.Context(), key)
		assert.NoError(t, err)
		assert.Equal(t, item.Value, row{"p", "given", "a"})
		item.Value.RowKey = "moved"
		assert.WantError(t, assert.ErrorOf(table.Replace(t.Context(), item)), patterns.ErrKeyChanged, "a changed key")
	})
}

func TestTheErrorOfAKeyFunctionIsReturned(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		own := errors.New("own")
		table := harness.NewTable(t, b.Table(t), &patterns.TableOptions[harness.Person]{Key: func(*harness.Person) (keys.Key, error) { return keys.Key{}, own }})
		v := harness.NewPerson("ann")
		_, err := table.Insert(t.Context(), &v)
		assert.WantError(t, err, own)
		b.WantRequestCount(t, 0)
	})
}
