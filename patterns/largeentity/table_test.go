package largeentity_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
)

const large = 100 << 10

func TestEachCallTakesTheDocumentedRequests(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		jj := newJones("a", large)
		jj.Notes, jj.Skills = strings.Repeat("n", 40000), map[string]string{"go": strings.Repeat("x", 40000)}

		small := newJones("s", 10)
		small.Email = "small@contoso.com"
		must[largeentity.Item[employee]](t)(table.Insert(ctx, small))
		wantRequests(t, b, map[string]int{"Table.Insert": 1})

		item := must[largeentity.Item[employee]](t)(table.Insert(ctx, jj))
		wantRequests(t, b, map[string]int{"Blob.Put": 3, "Table.Insert": 1})
		wantEmployee(t, item.Value, *jj)

		item = must[largeentity.Item[employee]](t)(table.Get(ctx, jones))
		wantRequests(t, b, map[string]int{"Table.Get": 1, "Blob.Get": 3})
		wantEmployee(t, item.Value, *jj)

		meta := must[largeentity.Item[employee]](t)(table.GetMeta(ctx, jones))
		wantRequests(t, b, map[string]int{"Table.Get": 1})
		wantEmployee(t, meta.Value, employee{Department: jj.Department, Email: jj.Email, Age: 40})
		if ref, ok := meta.Blob("Photo"); !ok || ref.Length != large || meta.Loaded("Photo") {
			t.Errorf("reference %+v, loaded %v", ref, meta.Loaded("Photo"))
		}
		photo := must[largeentity.Item[employee]](t)(table.Load(ctx, meta, "Photo"))
		wantRequests(t, b, map[string]int{"Blob.Get": 1})
		if !bytes.Equal(photo.Value.Photo, jj.Photo) || photo.Value.Notes != "" || meta.Value.Photo != nil {
			t.Error("not the photo, and it alone")
		}

		// What was not read, or is the same, stays where it is.
		meta.Value.Age++
		meta = must[largeentity.Item[employee]](t)(table.Replace(ctx, meta))
		wantRequests(t, b, map[string]int{"Table.Replace": 1})
		meta = must[largeentity.Item[employee]](t)(table.Load(ctx, meta))
		jj.Age++
		wantEmployee(t, meta.Value, *jj)
		b.ResetRequests()
		meta.Value.Notes = "short"
		meta.Value.Photo = noise("b", large)
		must[largeentity.Item[employee]](t)(table.Replace(ctx, meta))
		wantRequests(t, b, map[string]int{"Blob.Put": 1, "Table.Replace": 1})

		must[largeentity.Item[employee]](t)(table.Update(ctx, jones, func(e *employee) error { e.Photo = nil; return nil }))
		wantRequests(t, b, map[string]int{"Table.Get": 1, "Blob.Get": 2, "Table.Replace": 1})
		must[largeentity.Item[employee]](t)(table.UpdateMeta(ctx, jones, func(e *employee) error { e.Age = 50; return nil }))
		wantRequests(t, b, map[string]int{"Table.Get": 1, "Table.Replace": 1})

		jj.Photo, jj.Notes, jj.Age = nil, "short", 50
		item = must[largeentity.Item[employee]](t)(table.Get(ctx, jones))
		wantEmployee(t, item.Value, *jj)
		b.ResetRequests()
		if err := table.Delete(ctx, jones, item.ETag); err != nil {
			t.Fatal(err)
		}
		wantRequests(t, b, map[string]int{"Table.Delete": 1})
		if _, err := table.Get(ctx, jones); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("after the delete: %v", err)
		}
	})
}

// The name of the table is part of the blobs' names, and not known before a request.
func TestTheFirstRequestOfATableMayBeOneMore(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		jj := newJones("a", large)
		must[largeentity.Item[employee]](t)(open[employee](t, client, blobs, nil).Insert(t.Context(), jj))
		wantRequests(t, b, map[string]int{"Table.Get": 1, "Blob.Put": 1, "Table.Insert": 1})
		if _, err := open[employee](t, client, blobs, nil).Insert(t.Context(), jj); !errors.Is(err, patterns.ErrExists) {
			t.Errorf("again: %v", err)
		}
		wantRequests(t, b, map[string]int{"Table.Get": 1})
	})
}

func TestTheThresholdDecidesAndMayChange(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		for i, c := range []struct {
			threshold, size int
			apart           bool
		}{
			{0, 32 << 10, false}, {0, 32<<10 + 1, true},
			{largeentity.Always, 0, true}, {largeentity.Always, 1, true},
			{largeentity.MaxThreshold, 64 << 10, false}, {largeentity.MaxThreshold, 64<<10 + 1, true},
			{5, 5, false}, {5, 6, true},
		} {
			table := open(t, client, blobs, &largeentity.Options[employee]{Threshold: c.threshold})
			e := newJones("a", c.size)
			e.Email = string(rune('a' + i))
			item := must[largeentity.Item[employee]](t)(table.Insert(t.Context(), e))
			if _, apart := item.Blob("Photo"); apart != c.apart {
				t.Errorf("threshold %d, %d bytes: in a blob %v", c.threshold, c.size, apart)
			}
			other := open[employee](t, client, blobs, nil)
			got := must[largeentity.Item[employee]](t)(other.Get(t.Context(), item.Key))
			wantEmployee(t, got.Value, *e)
		}
		// A string property holds less than a binary one.
		table := open(t, client, blobs, &largeentity.Options[employee]{Threshold: largeentity.MaxThreshold})
		e := newJones("a", 0)
		e.Notes = strings.Repeat("é", 20000)
		item := must[largeentity.Item[employee]](t)(table.Insert(t.Context(), e))
		if _, apart := item.Blob("Remarks"); !apart {
			t.Error("40,000 bytes of text in the row")
		}
	})
}

func TestGzipIsUsedWhereItHelpsAndReadByAll(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		table := open(t, client, blobs, &largeentity.Options[employee]{Gzip: true})
		e := newJones("a", large)
		e.Notes = strings.Repeat("again and ", 10000)
		item := must[largeentity.Item[employee]](t)(table.Insert(t.Context(), e))
		notes, _ := item.Blob("Remarks")
		photo, _ := item.Blob("Photo")
		if notes.Encoding != "gzip" || photo.Encoding != "" || notes.Length != 100000 {
			t.Errorf("%+v %+v", notes, photo)
		}
		head := must[int64](t)(blobSize(t, blobs, notes.Name))
		if head > 1000 {
			t.Errorf("%d bytes stored", head)
		}
		b.ResetRequests()
		got := must[largeentity.Item[employee]](t)(open[employee](t, client, blobs, nil).Get(t.Context(), jones))
		wantEmployee(t, got.Value, *e)
		// The same content stays, however it is stored.
		b.ResetRequests()
		must[largeentity.Item[employee]](t)(open[employee](t, client, blobs, nil).Replace(t.Context(), got))
		wantRequests(t, b, map[string]int{"Table.Replace": 1})
	})
}

// Properties that T has no field for, and what code without this package writes, survive.
func TestRowsAreThoseOfAnyTable(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
		type badge struct{ Badge string }
		badges := must[*patterns.Table[badge]](t)(patterns.NewTable(table.Client(), &patterns.TableOptions[badge]{Keyless: true}))
		must[patterns.Item[badge]](t)(badges.Do(ctx, patterns.UpsertOp(&badge{"17"}, patterns.Merge).At(jones)))

		// By the plain table: the reference stays with the item.
		row := must[patterns.Item[employee]](t)(table.Table().Get(ctx, jones))
		row.Value.Age = 41
		row = must[patterns.Item[employee]](t)(table.Table().Replace(ctx, row))
		item := must[largeentity.Item[employee]](t)(table.Get(ctx, jones))
		want := newJones("a", large)
		want.Age = 41
		wantEmployee(t, item.Value, *want)

		// A value that it gives the row wins over the blob that there was.
		row = must[patterns.Item[employee]](t)(table.Table().Get(ctx, jones))
		row.Value.Photo = []byte("new")
		must[patterns.Item[employee]](t)(table.Table().Replace(ctx, row))
		item = must[largeentity.Item[employee]](t)(table.Get(ctx, jones))
		want.Photo = []byte("new")
		wantEmployee(t, item.Value, *want)

		item.Value.Photo = noise("c", large)
		must[largeentity.Item[employee]](t)(table.Replace(ctx, item))
		if got := must[patterns.Item[badge]](t)(badges.Get(ctx, jones)); got.Value.Badge != "17" {
			t.Error("a property without a field was lost")
		}
		for row, err := range table.Table().Query(ctx, jonesOnly, nil) {
			if err != nil {
				t.Fatal(err)
			}
			item := must[largeentity.Item[employee]](t)(table.Load(ctx, must[largeentity.Item[employee]](t)(table.Meta(row))))
			if !bytes.Equal(item.Value.Photo, noise("c", large)) {
				t.Error("the photo of a row that was queried is another")
			}
		}
		for row, err := range table.Table().Query(ctx, jonesOnly, &patterns.QueryOptions{Select: []string{"Age"}}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := table.Meta(row); !errors.Is(err, patterns.ErrProjected) {
				t.Errorf("a row read in part: %v", err)
			}
		}
	})
}

func TestATableMayDeriveItsKeys(t *testing.T) {
	type note struct {
		ID   string
		Text string `table:",blob"`
	}
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := open(t, b.Table(t), b.Container(t), &largeentity.Options[note]{Key: func(n *note) (keys.Key, error) {
			return keys.Key{Partition: n.ID[:1], Row: n.ID}, nil // panics for a zero note
		}})
		n := &note{"n17", strings.Repeat("x", 50000)}
		item := must[largeentity.Item[note]](t)(table.Insert(t.Context(), n))
		item.Value.Text = strings.Repeat("y", 50000)
		item = must[largeentity.Item[note]](t)(table.Replace(t.Context(), item))
		item.Value.ID = "n18"
		if _, err := table.Replace(t.Context(), item); !errors.Is(err, patterns.ErrKeyChanged) {
			t.Errorf("another key: %v", err)
		}
		got := must[largeentity.Item[note]](t)(table.Get(t.Context(), keys.Key{Partition: "n", Row: "n17"}))
		if got.Value.Text[0] != 'y' {
			t.Error("not the replaced text")
		}
	})
}
