package largeentity_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestContainerErrorsAreDistinguished(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		item := assert.Must(open[employee](t, client, blobs, nil).Insert(t.Context(), newJones("a", large)))(t)
		other := b.Container(t)
		table := open[employee](t, client, other, nil)
		assert.WantError(t, assert.ErrorOf(table.Get(t.Context(), jones)), largeentity.ErrWrongContainer, "blob of another container")
		assert.NoError(t, assert.ErrorOf(other.Delete(t.Context(), nil)))
		item.Value.Photo = noise("b", large)
		assert.WantError(t, assert.ErrorOf(table.Replace(t.Context(), item)), largeentity.ErrContainerNotFound, "replace")
		assert.WantError(t, assert.ErrorOf(table.Sweep(t.Context(), nil)), largeentity.ErrContainerNotFound, "sweep")
	})
}

// A blob or a reference that is not what was written is never returned as a value.
func TestCorruptDataIsAnError(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := onBed(t, b, &largeentity.Options[employee]{Gzip: true})
		ctx := t.Context()
		e := newJones("a", large)
		e.Notes = strings.Repeat("again and ", 10000)
		item := assert.Must(table.Insert(ctx, e))(t)
		photo, _ := item.Blob("Photo")
		notes, _ := item.Blob("Remarks")
		for name, c := range map[string]struct {
			blob    largeentity.BlobRef
			content string
		}{
			"another checksum": {photo, string(noise("x", large))},
			"shorter":          {photo, string(e.Photo[:large-1])},
			"longer":           {photo, string(e.Photo) + "x"},
			"empty":            {photo, ""},
			"not gzip":         {notes, "no gzip at all"},
			"gzip cut off":     {notes, "\x1f\x8b\x08"},
			"an empty gzip":    {notes, ""},
			"not compressed":   {notes, e.Notes},
		} {
			before := assert.Must(read(t, table, c.blob.Name))(t)
			overwrite(t, table, c.blob.Name, c.content)
			_, err := table.Get(ctx, jones)
			wantCorrupt(t, name, err, c.blob.Name)
			overwrite(t, table, c.blob.Name, before)
		}
		wantEmployee(t, assert.Must(table.Get(ctx, jones))(t).Value, *e)

		assert.NoError(t, assert.ErrorOf(table.Container().NewBlobClient(photo.Name).Delete(ctx, nil)))
		b.ResetRequests()
		_, err := table.Get(ctx, jones)
		if !errors.Is(err, largeentity.ErrBlobNotFound) || !strings.Contains(err.Error(), "property Photo") || strings.Contains(err.Error(), photo.Name) {
			t.Errorf("without the blob: %v", err)
		}
		var refusal *patterns.Error
		if !errors.As(err, &refusal) || refusal.Status != 404 || refusal.Code != "BlobNotFound" || errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("without the blob: %#v, %v", refusal, err)
		}
		assert.Equal(t, b.Requests().Count("Table.Get"), 2, "the row was read", "times")

		text := referencesIn(t, table)
		for name, bad := range map[string]string{
			"no JSON":         "{",
			"later version":   strings.Replace(text, `"version":1`, `"version":2`, 1),
			"no checksum":     strings.Replace(text, photo.SHA256, "", 1),
			"bad checksum":    strings.Replace(text, photo.SHA256, "zz", 1),
			"no name":         strings.Replace(text, photo.Name, "", 1),
			"negative length": strings.Replace(text, `"length":`, `"length":-`, 1),
			"other encoding":  strings.Replace(text, `"gzip"`, `"lzw"`, 1),
		} {
			setReferences(t, table, bad)
			_, err := table.GetMeta(ctx, jones)
			wantCorrupt(t, name, err, photo.Name)
		}
		setReferences(t, table, 17)
		_, err = table.Get(ctx, jones)
		wantCorrupt(t, "a number", err, photo.Name)
	})
}

func wantCorrupt(t testing.TB, what string, err error, name string) {
	t.Helper()
	if !errors.Is(err, largeentity.ErrCorrupt) || strings.Contains(err.Error(), name) {
		t.Errorf("%s: %v", what, err)
	}
}

func TestAReadResumesAfterABrokenConnection(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		e := newJones("a", large)
		assert.Must(table.Insert(ctx, e))(t)
		for _, cut := range []int64{0, 1, 50000, large - 1} {
			b.ClearFaults()
			b.Fault(storagetest.On("Blob.Get").Nth(1).Times(2).CutReply(cut))
			b.ResetRequests()
			wantEmployee(t, assert.Must(table.Get(ctx, jones))(t).Value, *e)
			if n := b.Requests().Count("Blob.Get"); n < 2 {
				t.Errorf("cut at %d: %d requests", cut, n)
			}
		}
		b.ClearFaults()
		b.Fault(storagetest.On("Blob.Get").CutReply(10))
		if _, err := table.Get(ctx, jones); err == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a connection that always breaks: %v", err)
		}
	})
}

// A reader whose blob was swept reads the row again, and then the new blob.
func TestASlowReaderReadsTheRowAgain(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, blobs := b.NamedTable(t, name), b.Container(t)
		ctx := t.Context()
		writer := open[employee](t, client, blobs, nil)
		item := assert.Must(writer.Insert(ctx, newJones("a", large)))(t)
		old, _ := item.Blob("Photo")
		reader := open[employee](t, b.AfterEachTry(t, name, func(try int) {
			if try > 1 {
				return
			}
			item.Value.Photo = noise("b", large)
			assert.Must(writer.Replace(ctx, item))(t)
			assert.Equal(t, assert.ErrorOf(blobs.NewBlobClient(old.Name).Delete(ctx, nil)), nil)
		}), blobs, nil)
		wantEmployee(t, assert.Must(reader.Get(ctx, jones))(t).Value, *newJones("b", large))
	})
}
