package txn_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

type card struct {
	Dept  string `table:"PartitionKey"`
	ID    string `table:"RowKey"`
	Email string
	Phone string
	Age   int32
	Note  string `table:",omitempty"`
}

var jones = keys.Key{Partition: "sales", Row: "1"}

func TestOnlyWritesTheNamedPropertiesOfTheValue(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		full := card{"sales", "1", "a@example.com", "555", 42, "note"}
		for what, c := range map[string]struct {
			stored bool
			op     func(item patterns.Item[card]) patterns.Op[card]
			want   map[string]any
		}{
			"upsert": {true, func(patterns.Item[card]) patterns.Op[card] {
				return patterns.UpsertOp(&card{Dept: "sales", ID: "1", Phone: "556"}, patterns.Merge).Only("Phone")
			}, map[string]any{"Email": "a@example.com", "Phone": "556", "Age": int32(42), "Note": "note"}},
			"upsert of a zero value": {true, func(patterns.Item[card]) patterns.Op[card] {
				return patterns.UpsertOp(&card{Dept: "sales", ID: "1"}, patterns.Merge).Only("Phone", "Age")
			}, map[string]any{"Email": "a@example.com", "Phone": "", "Age": int32(0), "Note": "note"}},
			"upsert of a zero value with omitempty": {true, func(patterns.Item[card]) patterns.Op[card] {
				return patterns.UpsertOp(&card{Dept: "sales", ID: "1"}, patterns.Merge).Only("Note")
			}, map[string]any{"Email": "a@example.com", "Phone": "555", "Age": int32(42), "Note": "note"}},
			"upsert of a missing row": {false, func(patterns.Item[card]) patterns.Op[card] {
				return patterns.UpsertOp(&full, patterns.Merge).Only("Age")
			}, map[string]any{"Age": int32(42)}},
			"merge": {true, func(item patterns.Item[card]) patterns.Op[card] {
				item.Value.Email, item.Value.Phone = "b@example.com", "not written"
				return patterns.MergeOp(item).Only("Email")
			}, map[string]any{"Email": "b@example.com", "Phone": "555", "Age": int32(42), "Note": "note"}},
			"merge of nothing": {true, func(item patterns.Item[card]) patterns.Op[card] {
				item.Value.Email = "not written"
				return patterns.MergeOp(item).Only().With("Kind", "card")
			}, map[string]any{"Email": "a@example.com", "Phone": "555", "Age": int32(42), "Note": "note", "Kind": "card"}},
			"insert": {false, func(patterns.Item[card]) patterns.Op[card] {
				return patterns.InsertOp(&full).Only("Email", "Note")
			}, map[string]any{"Email": "a@example.com", "Note": "note"}},
		} {
			for _, batched := range []bool{false, true} {
				client := b.Table(t)
				table := harness.NewTable[card](t, client, nil)
				var item patterns.Item[card]
				if c.stored {
					item = harness.Insert(t, table, full)
				}
				b.ResetRequests()
				var err error
				if batched {
					_, err = table.Batch().Add(c.op(item)).Commit(t.Context())
				} else {
					var written patterns.Item[card]
					written, err = table.Do(t.Context(), c.op(item))
					if !written.Projected() {
						t.Errorf("%s: the result may replace the row", what)
					}
				}
				assert.NoError(t, err)
				b.WantRequestCount(t, 1)
				row := harness.NewTable[map[string]any](t, client, &patterns.TableOptions[map[string]any]{Keyless: true})
				got := harness.Get(t, row, jones).Value
				for _, name := range []string{"PartitionKey", "RowKey", "Timestamp"} {
					delete(got, name)
				}
				assert.EqualMaps(t, got, c.want, what, "batched", batched)
			}
		}
	})
}

func TestOnlySelectsPropertiesOfAMap(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[map[string]any](t, b.Table(t), &patterns.TableOptions[map[string]any]{Keyless: true})
		_, err := table.Do(t.Context(), patterns.InsertOp(&map[string]any{"A": "a", "B": "b"}).At(jones))
		assert.NoError(t, err)
		_, err = table.Do(t.Context(), patterns.UpsertOp(&map[string]any{"A": "2", "B": "2", "C": int64(3)}, patterns.Merge).Only("B", "C").At(jones))
		assert.NoError(t, err)
		got := harness.Get(t, table, jones).Value
		if got["A"] != "a" || got["B"] != "2" || got["C"] != int64(3) {
			t.Errorf("%v", got)
		}
	})
}

func TestOnlyRefusesUnknownNamesAndReplacements(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[card](t, b.Table(t), nil)
		maps := harness.NewTable[map[string]any](t, b.Table(t), &patterns.TableOptions[map[string]any]{Keyless: true})
		item := harness.Insert(t, table, card{Dept: "sales", ID: "1", Age: 1})
		b.ResetRequests()
		v := item.Value
		for _, op := range []patterns.Op[card]{
			patterns.UpsertOp(&v, patterns.Merge).Only("Age", "age"), patterns.MergeOp(item).Only("RowKey"), patterns.InsertOp(&v).Only("azp_view"),
		} {
			_, err := table.Do(t.Context(), op)
			var e *patterns.PropertyError
			if !errors.As(err, &e) || !slices.Contains([]string{"age", "RowKey", "azp_view"}, e.Property) {
				t.Errorf("%v", err)
			}
		}
		_, err := maps.Do(t.Context(), patterns.UpsertOp(&map[string]any{"A": "a", "RowKey": "1"}, patterns.Merge).Only("RowKey").At(jones))
		if !errors.As(err, new(*patterns.PropertyError)) {
			t.Errorf("%v", err)
		}
		for _, op := range []patterns.Op[card]{patterns.UpsertOp(&v, patterns.Replace).Only("Age"), patterns.ReplaceOp(item).Only("Age")} {
			_, err := table.Do(t.Context(), op)
			assert.WantError(t, err, patterns.ErrProjected)
		}
		_, err = table.Do(t.Context(), patterns.UpsertOp[card](nil, patterns.Merge).Only("Age"))
		assert.WantError(t, err, patterns.ErrNil)
		b.WantRequestCount(t, 0)
		assert.NoError(t, assert.ErrorOf(table.Do(t.Context(), patterns.DeleteOp[card](jones, "").Only("Age"))))
	})
}

func TestAnOperationWithOnlyIsNotChangedByItsCopies(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[card](t, b.Table(t), nil)
		harness.Insert(t, table, card{Dept: "sales", ID: "1", Email: "e", Phone: "p"})
		names := []string{"Email"}
		op := patterns.UpsertOp(&card{Dept: "sales", ID: "1", Email: "f", Phone: "q"}, patterns.Merge).Only(names...)
		names[0] = "Phone"
		_ = op.Only("Phone")
		assert.NoError(t, assert.ErrorOf(table.Do(t.Context(), op)))
		if got := harness.Get(t, table, jones).Value; got.Email != "f" || got.Phone != "p" {
			t.Errorf("%+v", got)
		}
	})
}
