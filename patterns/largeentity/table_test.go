package largeentity_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/query"
)

func TestEachCallMakesTheDocumentedRequests(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		jj := newJones("a", large)
		jj.Notes, jj.Skills = strings.Repeat("n", 40000), map[string]string{"go": strings.Repeat("x", 40000)}

		small := newJones("s", 10)
		small.Email = "small@contoso.com"
		assert.Must(table.Insert(ctx, small))(t)
		b.WantRequests(t, map[string]int{"Table.Insert": 1})

		item := assert.Must(table.Insert(ctx, jj))(t)
		b.WantRequests(t, map[string]int{"Blob.Put": 3, "Table.Insert": 1})
		wantEmployee(t, item.Value, *jj)

		item = assert.Must(table.Get(ctx, jones))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Blob.Get": 3})
		wantEmployee(t, item.Value, *jj)

		meta := assert.Must(table.GetMeta(ctx, jones))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1})
		wantEmployee(t, meta.Value, employee{Department: jj.Department, Email: jj.Email, Age: 40})
		if ref, ok := meta.Blob("Photo"); !ok || ref.Length != large || meta.Loaded("Photo") {
			t.Errorf("reference %+v, loaded %v", ref, meta.Loaded("Photo"))
		}
		photo := assert.Must(table.Load(ctx, meta, "Photo"))(t)
		b.WantRequests(t, map[string]int{"Blob.Get": 1})
		if !bytes.Equal(photo.Value.Photo, jj.Photo) || photo.Value.Notes != "" || meta.Value.Photo != nil {
			t.Error("Load did not load exactly the photo into a copy")
		}

		// Content that was not loaded, or is unchanged, is not uploaded.
		meta.Value.Age++
		meta = assert.Must(table.Replace(ctx, meta))(t)
		b.WantRequests(t, map[string]int{"Table.Replace": 1})
		meta = assert.Must(table.Load(ctx, meta))(t)
		jj.Age++
		wantEmployee(t, meta.Value, *jj)
		b.ResetRequests()
		meta.Value.Notes = "short"
		meta.Value.Photo = noise("b", large)
		assert.Must(table.Replace(ctx, meta))(t)
		b.WantRequests(t, map[string]int{"Blob.Put": 1, "Table.Replace": 1})

		assert.Must(table.Update(ctx, jones, func(e *employee) error { e.Photo = nil; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Blob.Get": 2, "Table.Replace": 1})
		assert.Must(table.UpdateMeta(ctx, jones, func(e *employee) error { e.Age = 50; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Replace": 1})

		jj.Photo, jj.Notes, jj.Age = nil, "short", 50
		item = assert.Must(table.Get(ctx, jones))(t)
		wantEmployee(t, item.Value, *jj)
		b.ResetRequests()
		assert.NoError(t, table.Delete(ctx, jones, item.ETag))
		b.WantRequests(t, map[string]int{"Table.Delete": 1})
		assert.WantError(t, assert.ErrorOf(table.Get(ctx, jones)), patterns.ErrNotFound, "after the delete")
	})
}

// The names of blobs contain the name of the table, which is not known before a request.
func TestTheFirstWriteOfABlobMakesOneMoreRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		jj := newJones("a", large)
		assert.Must(open[employee](t, client, blobs, nil).Insert(t.Context(), jj))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Blob.Put": 1, "Table.Insert": 1})
		assert.WantError(t, assert.ErrorOf(open[employee](t, client, blobs, nil).Insert(t.Context(), jj)), patterns.ErrExists, "second insert")
		b.WantRequests(t, map[string]int{"Table.Get": 1})
	})
}

// Unknown properties, and values written with a plain table, are kept.
func TestRowsCanBeWrittenWithAPlainTable(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		assert.Must(table.Insert(ctx, newJones("a", large)))(t)
		type badge struct{ Badge string }
		badges := assert.Must(patterns.NewTable(table.Client(), &patterns.TableOptions[badge]{Keyless: true}))(t)
		assert.Must(badges.Do(ctx, patterns.UpsertOp(&badge{"17"}, patterns.Merge).At(jones)))(t)

		// A write with the plain table keeps the reference.
		row := assert.Must(table.Table().Get(ctx, jones))(t)
		row.Value.Age = 41
		row = assert.Must(table.Table().Replace(ctx, row))(t)
		item := assert.Must(table.Get(ctx, jones))(t)
		want := newJones("a", large)
		want.Age = 41
		wantEmployee(t, item.Value, *want)

		// A value in the row takes precedence over the blob.
		row = assert.Must(table.Table().Get(ctx, jones))(t)
		row.Value.Photo = []byte("new")
		assert.Must(table.Table().Replace(ctx, row))(t)
		item = assert.Must(table.Get(ctx, jones))(t)
		want.Photo = []byte("new")
		wantEmployee(t, item.Value, *want)

		item.Value.Photo = noise("c", large)
		assert.Must(table.Replace(ctx, item))(t)
		assert.Equal(t, assert.Must(badges.Get(ctx, jones))(t).Value.Badge, "17", "an unknown property was lost")
		for row, err := range table.Table().Query(ctx, jonesOnly, nil) {
			assert.NoError(t, err)
			item := assert.Must(table.Load(ctx, assert.Must(table.FromRow(row))(t)))(t)
			if !bytes.Equal(item.Value.Photo, noise("c", large)) {
				t.Error("the photo of a row from a query differs")
			}
		}
		for row, err := range table.Table().Query(ctx, jonesOnly, &patterns.QueryOptions{Select: []string{"Age"}}) {
			assert.NoError(t, err)
			assert.WantError(t, assert.ErrorOf(table.FromRow(row)), patterns.ErrProjected, "row with a projection")
		}
	})
}

var jonesOnly = query.And(query.PartitionKey.Eq(jones.Partition), query.RowKey.Eq(jones.Row))

func TestTheZeroTableReturnsErrors(t *testing.T) {
	ctx := t.Context()
	zero := new(largeentity.Table[employee])
	for name, err := range map[string]error{
		"Create":  zero.Create(ctx),
		"Get":     assert.ErrorOf(zero.Get(ctx, jones)),
		"GetMeta": assert.ErrorOf(zero.GetMeta(ctx, jones)),
		"Load":    assert.ErrorOf(zero.Load(ctx, largeentity.Item[employee]{})),
		"FromRow": assert.ErrorOf(zero.FromRow(patterns.Item[employee]{})),
		"Insert":  assert.ErrorOf(zero.Insert(ctx, newJones("a", 1))),
		"Replace": assert.ErrorOf(zero.Replace(ctx, largeentity.Item[employee]{ETag: "x"})),
		"Update":  assert.ErrorOf(zero.Update(ctx, jones, func(*employee) error { return nil })),
		"Delete":  zero.Delete(ctx, jones, ""),
		"Handle":  assert.ErrorOf(zero.Handle(ctx, patterns.OutboxMessage{})),
		"Sweep":   assert.ErrorOf(zero.Sweep(ctx, nil)),
	} {
		assert.WantError(t, err, patterns.ErrNil, name)
	}
}
