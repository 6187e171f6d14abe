package wideentity_test

import (
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

func TestAnEntityIsReadAsItWasWritten(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, n := range []int{0, 1, 252, 253, 365, 2500} {
			table := open[properties](t, b.Table(t), nil)
			v := days(n)
			b.ResetRequests()
			assert.Must(table.Insert(t.Context(), &v))(t)
			b.WantRequests(t, map[string]int{"Table.Batch": 1})
			item := assert.Must(table.Get(t.Context(), year))(t)
			b.WantRequests(t, map[string]int{"Table.Query": 1})
			wantProperties(t, item.Value, v)
			if item.ETag == "" || item.Timestamp.IsZero() || item.Value["RowKey"] != "000123" {
				t.Errorf("item without ETag, Timestamp or keys: %q %v", item.ETag, item.Timestamp)
			}
			assert.WantError(t, assert.ErrorOf(table.Insert(t.Context(), &v)), patterns.ErrExists, "second insert")
			assert.NoError(t, table.Delete(t.Context(), year, item.ETag))
			assert.WantError(t, assert.ErrorOf(table.Get(t.Context(), year)), patterns.ErrNotFound, "after the delete")
		}
	})
}

func TestClientReturnsTheClientOfNew(t *testing.T) {
	client := storagetest.New(t).Tables().NewClient("Wide")
	assert.Equal(t, open[properties](t, client, nil).Client(), client, "not the client that New took")
}

func TestLargeValuesAreSplitAndJoined(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		for _, n := range []int{65535, 65536, 65537, 131071, 400_000} {
			v := properties{"Photo": noise(n), "Text": text(n / 2), "Small": "s"}
			assert.Must(table.Put(t.Context(), &v))(t)
			item := assert.Must(table.Get(t.Context(), year))(t)
			wantProperties(t, item.Value, v)
			part := assert.Must(table.GetOnly(t.Context(), year, "Photo", "Text"))(t)
			wantProperties(t, part.Value, properties{"Photo": v["Photo"], "Text": v["Text"]})
			part = assert.Must(table.GetOnly(t.Context(), year, "Text"))(t)
			wantProperties(t, part.Value, properties{"Text": v["Text"]})
		}
	})
}

func TestAnEntityOverTheLimitOfATransactionIsStaged(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		wideentity.SetBatchBytes(table, 200_000)
		small := days(400)
		assert.Must(table.Insert(t.Context(), &small))(t)
		large := days(100)
		large["Photo"] = noise(200_000)
		b.ResetRequests()
		assert.Must(table.Put(t.Context(), &large))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Batch": 3}) // two of rows, one of the head
		item := assert.Must(table.Get(t.Context(), year))(t)
		wantProperties(t, item.Value, large)
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		large["Photo"] = noise(300_000)
		item.Value = large
		item = assert.Must(table.Replace(t.Context(), item))(t)
		b.WantRequests(t, map[string]int{"Table.Batch": 5}) // three of rows, one of the head, one of the replaced rows
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, large)
		part := assert.Must(table.GetOnly(t.Context(), year, dayName(1), dayName(2), "Photo"))(t)
		wantProperties(t, part.Value, properties{dayName(1): int32(1), dayName(2): int32(2), "Photo": large["Photo"]})

		// A small change is one transaction, on the staged rows.
		b.ResetRequests()
		item = assert.Must(table.Update(t.Context(), year, func(b *properties) error {
			(*b)[dayName(1)] = int32(-1)
			return nil
		}))(t)
		b.WantRequests(t, map[string]int{"Table.Query": 1, "Table.Batch": 1})
		large[dayName(1)] = int32(-1)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, large)
		item.Value = small
		assert.Must(table.Replace(t.Context(), item))(t)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, small)
	})
}

func TestAnEntityMayHaveMoreThanFourMegabytes(t *testing.T) {
	table := open[properties](t, storagetest.New(t).TablesWith(harness.Accelerated()).NewClient("Wide"), nil)
	assert.NoError(t, table.Create(t.Context()))
	v := days(2000)
	v["Photo"], v["Text"] = noise(8<<20), text(1<<20)
	assert.Must(table.Insert(t.Context(), &v))(t)
	wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
}

func TestEachCallMakesTheDocumentedRequests(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := days(1000)
		names := []string{dayName(1), dayName(2), dayName(3)}
		parts := map[int]bool{}
		for _, name := range names {
			parts[hashOf(name, 16)] = true
		}
		item := assert.Must(table.Insert(t.Context(), &v))(t)
		b.ResetRequests()
		for _, c := range []struct {
			name string
			run  func() error
			want map[string]int
		}{
			{"replace", func() (err error) { item, err = table.Replace(t.Context(), item); return }, map[string]int{"Table.Batch": 1}},
			{"merge", func() (err error) { item, err = table.Merge(t.Context(), item, names...); return }, map[string]int{"Table.Batch": 1}},
			{"set", func() error { return mergeAny(t.Context(), table, year, &v, names...) }, map[string]int{"Table.Get": 1, "Table.Batch": 1}},
			{"put", func() error { _, err := table.Put(t.Context(), &v); return err }, map[string]int{"Table.Get": 1, "Table.Batch": 1}},
			{"get", func() error { _, err := table.Get(t.Context(), year); return err }, map[string]int{"Table.Query": 1}},
			{"read one", func() error { _, err := table.GetOnly(t.Context(), year, names[0]); return err }, map[string]int{"Table.Query": 1}},
			{"read some", func() error { _, err := table.GetOnly(t.Context(), year, names...); return err }, map[string]int{"Table.Query": 1 + len(parts)}},
			{"read none", func() error { _, err := table.GetOnly(t.Context(), year); return err }, map[string]int{"Table.Query": 1}},
			{"update of nothing", func() error {
				_, err := table.Update(t.Context(), year, func(*properties) error { return nil })
				return err
			}, map[string]int{"Table.Query": 1}},
			{"sweep", func() error { _, err := table.Sweep(t.Context(), nil); return err }, map[string]int{"Table.Query": 1}},
			{"delete", func() error { return table.Delete(t.Context(), year, "") }, map[string]int{"Table.Get": 1, "Table.Batch": 1}},
			{"delete of nothing", func() error { return table.Delete(t.Context(), year, "") }, map[string]int{"Table.Get": 1}},
		} {
			assert.NoError(t, c.run(), c.name)
			t.Log(c.name)
			b.WantRequests(t, c.want)
		}
	})
}

// The rows are that of the property, and the head.
func TestAChangeOfOnePropertyWritesTwoRows(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := days(1000)
		item := assert.Must(table.Insert(t.Context(), &v))(t)
		b.ResetRequests()
		item = assert.Must(table.Merge(t.Context(), item, dayName(7)))(t)
		assert.Equal(t, written(b), 2, "a merge wrote", "rows, want 2")
		b.ResetRequests()
		assert.Must(table.Update(t.Context(), year, func(b *properties) error {
			(*b)[dayName(7)] = int32(77)
			return nil
		}))(t)
		assert.Equal(t, written(b), 2, "an update wrote", "rows, want 2")
		assert.WantError(t, assert.ErrorOf(table.Merge(t.Context(), item, dayName(7))), patterns.ErrConflict, "a merge of an earlier version")
		assert.WantError(t, assert.ErrorOf(table.Replace(t.Context(), item)), patterns.ErrConflict, "a replace of an earlier version")
	})
}

func TestConcurrentUpdatesOfACounterLoseNoIncrement(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), &wideentity.Options[properties]{Tries: 100})
		v := days(100)
		assert.Must(table.Insert(t.Context(), &v))(t)
		var g errgroup.Group
		for range 4 {
			g.Go(func() error {
				for range 5 {
					if _, err := table.Update(t.Context(), year, func(b *properties) error {
						(*b)[dayName(1)] = (*b)[dayName(1)].(int32) + 1
						return nil
					}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		assert.NoError(t, g.Wait())
		v[dayName(1)] = int32(21)
		wantProperties(t, assert.Must(table.Get(t.Context(), year))(t).Value, v)
	})
}

func TestAZeroTableRefusesEveryOperation(t *testing.T) {
	ctx := t.Context()
	var table wideentity.Table[properties]
	v := days(1)
	_, insert := table.Insert(ctx, &v)
	_, put := table.Put(ctx, &v)
	_, replace := table.Replace(ctx, wideentity.Item[properties]{Key: year})
	_, merge := table.Merge(ctx, wideentity.Item[properties]{Key: year}, dayName(1))
	_, update := table.Update(ctx, year, func(*properties) error { return nil })
	_, get := table.Get(ctx, year)
	_, read := table.GetOnly(ctx, year)
	_, sweep := table.Sweep(ctx, nil)
	for name, err := range map[string]error{
		"create": table.Create(ctx), "insert": insert, "put": put, "replace": replace, "merge": merge, "update": update,
		"set": mergeAny(ctx, &table, year, &v, dayName(1)), "delete": table.Delete(ctx, year, ""), "get": get, "read": read, "sweep": sweep,
	} {
		assert.WantError(t, err, patterns.ErrNil, name)
	}
	assert.Equal(t, table.Client(), nil, "a zero table has a client")
}
