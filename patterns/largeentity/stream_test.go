package largeentity_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

type film struct {
	PartitionKey, RowKey string
	Title                string
	Video                largeentity.Stream `table:",blob"`
	Poster               []byte             `table:",blob"`
}

func newFilm(r io.Reader) *film {
	return &film{PartitionKey: "films", RowKey: "1", Title: "Metropolis", Video: largeentity.StreamOf(r)}
}

func openFilms(t testing.TB, b *harness.Backend, opts *largeentity.Options[film]) *largeentity.Table[film] {
	t.Helper()
	table := open(t, b.Table(t), b.Container(t), opts)
	largeentity.SetBlockSize(table, block)
	return table
}

var metropolis = keys.Key{Partition: "films", Row: "1"}

func readAll(t testing.TB, s largeentity.Stream) []byte {
	t.Helper()
	r := assert.Must(s.Open(t.Context()))(t)
	defer r.Close()
	return assert.Must(io.ReadAll(r))(t)
}

func wantContent(t testing.TB, s largeentity.Stream, want []byte) {
	t.Helper()
	if n, ok := s.Length(); !ok || n != int64(len(want)) {
		t.Errorf("length %d %v, want %d", n, ok, len(want))
	}
	if got := readAll(t, s); sha256.Sum256(got) != sha256.Sum256(want) {
		t.Errorf("%d bytes, want %d, or their content differs", len(got), len(want))
	}
}

const block = 64 << 10

func TestStreamsOfAnyLengthAreReadAsWritten(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, gzip := range []bool{false, true} {
			table := openFilms(t, b, &largeentity.Options[film]{Gzip: gzip})
			assert.WantError(assert.Now(t), assert.ErrorOf(table.Get(t.Context(), metropolis)), patterns.ErrNotFound)
			for _, c := range []struct{ size, blocks int }{{0, 0}, {1, 0}, {block - 1, 0}, {block, 1}, {block + 1, 2}} {
				content := noise("v", c.size)
				b.ResetRequests()
				item := assert.Must(table.Insert(t.Context(), newFilm(iotest.HalfReader(bytes.NewReader(content)))))(t)
				want := map[string]int{"Blob.Put": 1, "Table.Insert": 1}
				if c.blocks > 0 {
					want = map[string]int{"Blob.PutBlock": c.blocks, "Blob.PutBlockList": 1, "Table.Insert": 1}
				}
				b.WantRequests(t, want)
				wantContent(t, item.Value.Video, content)
				b.ResetRequests()
				item = assert.Must(table.Get(t.Context(), metropolis))(t)
				b.WantRequests(t, map[string]int{"Table.Get": 1})
				wantContent(t, item.Value.Video, content)
				assert.NoError(t, table.Delete(t.Context(), metropolis, item.ETag))
			}
		}
	})
}

func TestAStreamWithTooManyBlocksIsTooLarge(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, gzip := range []bool{false, true} {
			table := openFilms(t, b, &largeentity.Options[film]{Gzip: gzip})
			largeentity.SetMaxBlocks(table, 3)
			b.ResetRequests()
			_, err := table.Insert(t.Context(), newFilm(bytes.NewReader(noise("v", 3*block+1))))
			assert.WantError(t, err, patterns.ErrTooLarge)
			assert.Contains(t, err.Error(), "property Video")
			assert.Equal(t, b.Requests().Count("Blob.PutBlock"), 3, "blocks")
			assert.WantError(t, assert.ErrorOf(table.Get(t.Context(), metropolis)), patterns.ErrNotFound, "the entity")
			item := assert.Must(table.Insert(t.Context(), newFilm(bytes.NewReader(noise("v", 3*block)))))(t)
			wantContent(t, item.Value.Video, noise("v", 3*block))
		}
	})
}

func TestAStreamIsKeptUntilItIsReplaced(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := openFilms(t, b, nil)
		ctx := t.Context()
		old, fresh := noise("old", 1000), noise("new", 1000)
		first := assert.Must(table.Insert(ctx, newFilm(bytes.NewReader(old))))(t)
		b.ResetRequests()
		item := assert.Must(table.Update(ctx, metropolis, func(f *film) error { f.Title = "M"; return nil }))(t)
		b.WantRequests(t, map[string]int{"Table.Get": 1, "Table.Replace": 1})
		wantContent(t, item.Value.Video, old)

		// All tries of an update use the same Stream.
		s := largeentity.StreamOf(bytes.NewReader(fresh))
		tries := 0
		b.ResetRequests()
		item = assert.Must(table.Update(ctx, metropolis, func(f *film) error {
			if tries++; tries == 1 {
				assert.Must(table.Update(ctx, metropolis, func(f *film) error { f.Title = "N"; return nil }))(t)
			}
			f.Video = s
			return nil
		}))(t)
		if puts := b.Requests().Count("Blob.Put"); tries != 2 || puts != 1 {
			t.Errorf("%d tries, %d uploads", tries, puts)
		}
		wantContent(t, item.Value.Video, fresh)
		wantContent(t, first.Value.Video, old) // readers of the old row can still read it

		item.Value.Video = largeentity.Stream{}
		assert.Must(table.Replace(ctx, item))(t)
		item = assert.Must(table.Get(ctx, metropolis))(t)
		if !item.Value.Video.IsZero() {
			t.Error("the removed stream still exists")
		}
	})
}

func TestAStreamThatCannotBeWrittenIsRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := openFilms(t, b, nil)
		other := openFilms(t, b, nil)
		ctx := t.Context()
		f := newFilm(strings.NewReader("content"))
		item := assert.Must(table.Insert(ctx, f))(t)
		copied := &film{PartitionKey: "films", RowKey: "2", Video: item.Value.Video}
		assert.WantError(t, assert.ErrorOf(table.Insert(ctx, copied)), largeentity.ErrBadStream, "stream of another entity")
		assert.WantError(t, assert.ErrorOf(other.Insert(ctx, f)), largeentity.ErrBadStream, "stream of another table")
		assert.WantError(t, assert.ErrorOf(f.Video.Open(ctx)), largeentity.ErrBadStream, "open a stream that is not stored")
		if !largeentity.StreamOf(nil).IsZero() {
			t.Error("a Stream of a nil reader is not zero")
		}
		assert.Equal(t, assert.ErrorOf(patterns.NewTable[film](table.Client(), nil)), nil, "a plain table of the type")
		plain := assert.Must(patterns.NewTable[film](table.Client(), nil))(t)
		assert.Failed(t, assert.ErrorOf(plain.Insert(ctx, newFilm(strings.NewReader("x")))), "a plain table wrote a stream")

		// If the source fails, nothing is written, and its error is returned.
		broken := errors.New("broken")
		f = newFilm(io.MultiReader(bytes.NewReader(noise("x", block+5)), iotest.ErrReader(broken)))
		f.RowKey = "3"
		assert.WantError(t, assert.ErrorOf(table.Insert(ctx, f)), broken)
		assert.WantError(t, assert.ErrorOf(table.Insert(ctx, f)), largeentity.ErrBadStream, "second use")
		assert.WantError(t, assert.ErrorOf(table.Get(ctx, keys.Key{Partition: "films", Row: "3"})), patterns.ErrNotFound, "the row")
		assert.Equal(t, len(stored(t, table.Container())), 1, "blobs")
	})
}

// The reader of a truncated or changed blob returns ErrCorrupt instead of io.EOF.
func TestAStreamIsVerifiedAtItsEnd(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := openFilms(t, b, nil)
		content := noise("v", large)
		item := assert.Must(table.Insert(t.Context(), newFilm(bytes.NewReader(content))))(t)
		ref, _ := item.Blob("Video")

		b.Fault(storagetest.On("Blob.Get").Nth(1).Times(3).CutReply(30000))
		wantContent(t, item.Value.Video, content)
		b.ClearFaults()

		for name, bad := range map[string][]byte{"shorter": content[:large-1], "longer": append(noise("v", large), 'x'), "another": noise("w", large)} {
			put(t, table.Container(), ref.Name, bad)
			r := assert.Must(item.Value.Video.Open(t.Context()))(t)
			assert.WantError(t, assert.ErrorOf(io.ReadAll(r)), largeentity.ErrCorrupt, name)
			r.Close()
			if _, err := r.Read(make([]byte, 1)); err == nil || err == io.EOF {
				t.Errorf("%s, read after Close: %v", name, err)
			}
		}
		assert.NoError(t, assert.ErrorOf(table.Container().NewBlobClient(ref.Name).Delete(t.Context(), nil)))
		assert.WantError(t, assert.ErrorOf(item.Value.Video.Open(t.Context())), largeentity.ErrBlobNotFound, "without the blob")
	})
}

func TestALostReplyDoesNotCorruptAStream(t *testing.T) {
	for _, op := range []string{"Blob.Put", "Blob.PutBlock", "Blob.PutBlockList"} {
		harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
			table := openFilms(t, b, nil)
			content := noise("v", block+1)
			if op == "Blob.Put" {
				content = content[:100]
			}
			b.Fault(storagetest.On(op).Nth(1).LoseReply())
			item := assert.Must(table.Insert(t.Context(), newFilm(bytes.NewReader(content))))(t)
			wantContent(t, item.Value.Video, content)
		})
	}
}

func TestACrashDuringAStreamLeavesNoDanglingReference(t *testing.T) {
	films := func(acct *storagetest.Account) (*largeentity.Table[film], error) {
		table, err := largeentity.New[film](acct.Tables().NewClient("Films"), acct.Container("films"), nil)
		if err == nil {
			largeentity.SetBlockSize(table, block)
		}
		return table, err
	}
	content := noise("v", block+1)
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error {
		table, err := films(acct)
		if err == nil {
			err = table.Create(ctx)
		}
		if err != nil {
			return err
		}
		acct.Arm()
		return assert.ErrorOf(table.Insert(ctx, newFilm(bytes.NewReader(content))))
	}, func(t *testing.T, acct *storagetest.Account) {
		table := assert.Must(films(acct))(t)
		want := 0
		for range 2 {
			item, err := table.Get(t.Context(), metropolis)
			if err == nil {
				wantContent(t, item.Value.Video, content)
				want = 1
			} else if !errors.Is(err, patterns.ErrNotFound) {
				t.Fatal(err)
			}
			time.Sleep(2 * day) // a request in flight arrives
			assert.Must(table.Sweep(t.Context(), nil))(t)
		}
		assert.Equal(t, len(stored(t, table.Container())), want, "blobs")
	})
}
