package largeentity_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

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
		harness.Must(table.Insert(ctx, small))(t)
		b.WantRequests(t, map[string]int{"Table.Insert": 1})

		item := harness.Must(table.Insert(ctx, jj))(t)
		b.WantRequests(t, map[string]int{"Blob.Put": 3, "Table.Insert": 1})
		wantEmployee(t, item.Value, *jj)

		item = harness.Must(table.Get(ctx, jones))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Blob.Get": 3})
		wantEmployee(t, item.Value, *jj)

		meta := harness.Must(table.GetMeta(ctx, jones))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1})
		wantEmployee(t, meta.Value, employee{Department: jj.Department, Email: jj.Email, Age: 40})
		if ref, ok := meta.Blob("Photo"); !ok || ref.Length != large || meta.Loaded("Photo") {
			t.Errorf("reference %+v, loaded %v", ref, meta.Loaded("Photo"))
		}
		photo := harness.Must(table.Load(ctx, meta, "Photo"))(t)
		b.WantRequests(t, map[string]int{"Blob.Get": 1})
		if !bytes.Equal(photo.Value.Photo, jj.Photo) || photo.Value.Notes != "" || meta.Value.Photo != nil {
			t.Error("Load did not load exactly the photo into a copy")
		}

		// Content that was not loaded, or is unchanged, is not uploaded.
		meta.Value.Age++
		meta = harness.Must(table.Replace(ctx, meta))(t)
		b.WantRequests(t, map[string]int{"Table.Replace": 1})
		meta = harness.Must(table.Load(ctx, meta))(t)
		jj.Age++
		wantEmployee(t, meta.Value, *jj)
		b.ResetRequests()
		meta.Value.Notes = "short"
		meta.Value.Photo = noise("b", large)
		harness.Must(table.Replace(ctx, meta))(t)
		b.WantRequests(t, map[string]int{"Blob.Put": 1, "Table.Replace": 1})

		harness.Must(table.Update(ctx, jones, func(e *employee) error { e.Photo = nil; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Blob.Get": 2, "Table.Replace": 1})
		harness.Must(table.UpdateMeta(ctx, jones, func(e *employee) error { e.Age = 50; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Replace": 1})

		jj.Photo, jj.Notes, jj.Age = nil, "short", 50
		item = harness.Must(table.Get(ctx, jones))(t)
		wantEmployee(t, item.Value, *jj)
		b.ResetRequests()
		if err := table.Delete(ctx, jones, item.ETag); err != nil {
			t.Fatal(err)
		}
		b.WantRequests(t, map[string]int{"Table.Delete": 1})
		if _, err := table.Get(ctx, jones); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("after the delete: %v", err)
		}
	})
}

// The names of blobs contain the name of the table, which is not known before a request.
func TestTheFirstWriteOfABlobMakesOneMoreRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		jj := newJones("a", large)
		harness.Must(open[employee](t, client, blobs, nil).Insert(t.Context(), jj))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Blob.Put": 1, "Table.Insert": 1})
		if _, err := open[employee](t, client, blobs, nil).Insert(t.Context(), jj); !errors.Is(err, patterns.ErrExists) {
			t.Errorf("second insert: %v", err)
		}
		b.WantRequests(t, map[string]int{"Table.Get": 1})
	})
}

// Unknown properties, and values written with a plain table, are kept.
func TestRowsCanBeWrittenWithAPlainTable(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		harness.Must(table.Insert(ctx, newJones("a", large)))(t)
		type badge struct{ Badge string }
		badges := harness.Must(patterns.NewTable(table.Client(), &patterns.TableOptions[badge]{Keyless: true}))(t)
		harness.Must(badges.Do(ctx, patterns.UpsertOp(&badge{"17"}, patterns.Merge).At(jones)))(t)

		// A write with the plain table keeps the reference.
		row := harness.Must(table.Table().Get(ctx, jones))(t)
		row.Value.Age = 41
		row = harness.Must(table.Table().Replace(ctx, row))(t)
		item := harness.Must(table.Get(ctx, jones))(t)
		want := newJones("a", large)
		want.Age = 41
		wantEmployee(t, item.Value, *want)

		// A value in the row takes precedence over the blob.
		row = harness.Must(table.Table().Get(ctx, jones))(t)
		row.Value.Photo = []byte("new")
		harness.Must(table.Table().Replace(ctx, row))(t)
		item = harness.Must(table.Get(ctx, jones))(t)
		want.Photo = []byte("new")
		wantEmployee(t, item.Value, *want)

		item.Value.Photo = noise("c", large)
		harness.Must(table.Replace(ctx, item))(t)
		if got := harness.Must(badges.Get(ctx, jones))(t); got.Value.Badge != "17" {
			t.Error("an unknown property was lost")
		}
		for row, err := range table.Table().Query(ctx, jonesOnly, nil) {
			if err != nil {
				t.Fatal(err)
			}
			item := harness.Must(table.Load(ctx, harness.Must(table.FromRow(row))(t)))(t)
			if !bytes.Equal(item.Value.Photo, noise("c", large)) {
				t.Error("the photo of a row from a query differs")
			}
		}
		for row, err := range table.Table().Query(ctx, jonesOnly, &patterns.QueryOptions{Select: []string{"Age"}}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := table.FromRow(row); !errors.Is(err, patterns.ErrProjected) {
				t.Errorf("row with a projection: %v", err)
			}
		}
	})
}

var jonesOnly = query.And(query.PartitionKey.Eq(jones.Partition), query.RowKey.Eq(jones.Row))

func TestTheZeroTableReturnsErrors(t *testing.T) {
	ctx := t.Context()
	zero := new(largeentity.Table[employee])
	for name, err := range map[string]error{
		"Create":  zero.Create(ctx),
		"Get":     harness.ErrorOf(zero.Get(ctx, jones)),
		"GetMeta": harness.ErrorOf(zero.GetMeta(ctx, jones)),
		"Load":    harness.ErrorOf(zero.Load(ctx, largeentity.Item[employee]{})),
		"FromRow": harness.ErrorOf(zero.FromRow(patterns.Item[employee]{})),
		"Insert":  harness.ErrorOf(zero.Insert(ctx, newJones("a", 1))),
		"Replace": harness.ErrorOf(zero.Replace(ctx, largeentity.Item[employee]{ETag: "x"})),
		"Update":  harness.ErrorOf(zero.Update(ctx, jones, func(*employee) error { return nil })),
		"Delete":  zero.Delete(ctx, jones, ""),
		"Handle":  harness.ErrorOf(zero.Handle(ctx, patterns.OutboxMessage{})),
		"Sweep":   harness.ErrorOf(zero.Sweep(ctx, nil)),
	} {
		if !errors.Is(err, patterns.ErrNil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
