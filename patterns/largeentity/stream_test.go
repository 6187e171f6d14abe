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

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
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
	return &film{PartitionKey: "films", RowKey: "1", Title: "Metropolis", Video: largeentity.NewStream(r)}
}

func openFilms(t testing.TB, b *testbed.Backend, opts *largeentity.Options[film]) *largeentity.Table[film] {
	t.Helper()
	table := open(t, b.Table(t), b.Container(t), opts)
	largeentity.SetBlock(table, block)
	return table
}

var metropolis = newKey("films", "1")

func readAll(t testing.TB, s largeentity.Stream) []byte {
	t.Helper()
	r := must[io.ReadCloser](t)(s.Open(t.Context()))
	defer r.Close()
	return must[[]byte](t)(io.ReadAll(r))
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

func TestStreamsOfAnyLengthComeBack(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		for _, gzip := range []bool{false, true} {
			table := openFilms(t, b, &largeentity.Options[film]{Gzip: gzip})
			if _, err := table.Get(t.Context(), metropolis); !errors.Is(err, patterns.ErrNotFound) {
				t.Fatal(err)
			}
			for _, c := range []struct{ size, blocks int }{{0, 0}, {1, 0}, {block - 1, 0}, {block, 1}, {block + 1, 2}} {
				if gzip && c.size > 1 && c.size <= block { // it is stored longer than it is
					continue
				}
				content := noise("v", c.size)
				b.ResetRequests()
				item := must[largeentity.Item[film]](t)(table.Insert(t.Context(), newFilm(iotest.HalfReader(bytes.NewReader(content)))))
				want := map[string]int{"Blob.Put": 1, "Table.Insert": 1}
				if c.blocks > 0 {
					want = map[string]int{"Blob.PutBlock": c.blocks, "Blob.PutBlockList": 1, "Table.Insert": 1}
				}
				wantRequests(t, b, want)
				wantContent(t, item.Value.Video, content)
				b.ResetRequests()
				item = must[largeentity.Item[film]](t)(table.Get(t.Context(), metropolis))
				wantRequests(t, b, map[string]int{"Table.Get": 1})
				wantContent(t, item.Value.Video, content)
				if err := table.Delete(t.Context(), metropolis, item.ETag); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestAStreamOfTooManyBlocksIsTooLarge(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		for _, gzip := range []bool{false, true} {
			table := openFilms(t, b, &largeentity.Options[film]{Gzip: gzip})
			largeentity.SetBlocks(table, 3)
			b.ResetRequests()
			_, err := table.Insert(t.Context(), newFilm(bytes.NewReader(noise("v", 3*block+1))))
			var e *largeentity.Error
			if !errors.Is(err, patterns.ErrTooLarge) || !errors.As(err, &e) || e.Property != "Video" {
				t.Errorf("a byte too many: %v", err)
			}
			if n := b.Requests().Count("Blob.PutBlock"); n != 3 {
				t.Errorf("%d blocks", n)
			}
			if _, err := table.Get(t.Context(), metropolis); !errors.Is(err, patterns.ErrNotFound) {
				t.Errorf("the entity: %v", err)
			}
			if gzip { // by which noise becomes longer
				continue
			}
			item := must[largeentity.Item[film]](t)(table.Insert(t.Context(), newFilm(bytes.NewReader(noise("v", 3*block)))))
			wantContent(t, item.Value.Video, noise("v", 3*block))
		}
	})
}

func TestAStreamStaysWithItsEntityUntilReplaced(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := openFilms(t, b, nil)
		ctx := t.Context()
		old, fresh := noise("old", 1000), noise("new", 1000)
		first := must[largeentity.Item[film]](t)(table.Insert(ctx, newFilm(bytes.NewReader(old))))
		b.ResetRequests()
		item := must[largeentity.Item[film]](t)(table.Update(ctx, metropolis, func(f *film) error { f.Title = "M"; return nil }))
		wantRequests(t, b, map[string]int{"Table.Get": 1, "Table.Replace": 1})
		wantContent(t, item.Value.Video, old)

		// One Stream serves all tries of an update.
		s := largeentity.NewStream(bytes.NewReader(fresh))
		tries := 0
		b.ResetRequests()
		item = must[largeentity.Item[film]](t)(table.Update(ctx, metropolis, func(f *film) error {
			if tries++; tries == 1 {
				must[largeentity.Item[film]](t)(table.Update(ctx, metropolis, func(f *film) error { f.Title = "N"; return nil }))
			}
			f.Video = s
			return nil
		}))
		if puts := b.Requests().Count("Blob.Put"); tries != 2 || puts != 1 {
			t.Errorf("%d tries, %d uploads", tries, puts)
		}
		wantContent(t, item.Value.Video, fresh)
		wantContent(t, first.Value.Video, old) // who read it before can go on

		item.Value.Video = largeentity.Stream{}
		must[largeentity.Item[film]](t)(table.Replace(ctx, item))
		item = must[largeentity.Item[film]](t)(table.Get(ctx, metropolis))
		if !item.Value.Video.IsZero() {
			t.Error("the stream that was taken away is there")
		}
	})
}

func TestAStreamThatCannotBeUsedIsRefused(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := openFilms(t, b, nil)
		other := openFilms(t, b, nil)
		ctx := t.Context()
		f := newFilm(strings.NewReader("content"))
		item := must[largeentity.Item[film]](t)(table.Insert(ctx, f))
		copied := &film{PartitionKey: "films", RowKey: "2", Video: item.Value.Video}
		if _, err := table.Insert(ctx, copied); !errors.Is(err, largeentity.ErrStream) {
			t.Errorf("that of another entity: %v", err)
		}
		if _, err := other.Insert(ctx, f); !errors.Is(err, largeentity.ErrStream) {
			t.Errorf("one that was read: %v", err)
		}
		if _, err := f.Video.Open(ctx); !errors.Is(err, largeentity.ErrStream) {
			t.Errorf("one not stored: %v", err)
		}
		if !largeentity.NewStream(nil).IsZero() {
			t.Error("a Stream of nothing is something")
		}
		if _, err := patterns.NewTable[film](table.Client(), nil); err != nil {
			t.Errorf("a plain table of the type: %v", err)
		}
		plain := must[*patterns.Table[film]](t)(patterns.NewTable[film](table.Client(), nil))
		if _, err := plain.Insert(ctx, newFilm(strings.NewReader("x"))); err == nil {
			t.Error("a plain table took a stream")
		}

		// A source that fails: nothing is written, and its error is the answer.
		broken := errors.New("broken")
		f = newFilm(io.MultiReader(bytes.NewReader(noise("x", block+5)), iotest.ErrReader(broken)))
		f.RowKey = "3"
		if _, err := table.Insert(ctx, f); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		if _, err := table.Insert(ctx, f); !errors.Is(err, largeentity.ErrStream) {
			t.Errorf("again: %v", err)
		}
		if _, err := table.Get(ctx, newKey("films", "3")); !errors.Is(err, patterns.ErrNotFound) {
			t.Errorf("the row: %v", err)
		}
		if n := len(stored(t, table.Container())); n != 1 {
			t.Errorf("%d blobs", n)
		}
	})
}

// A truncated or changed stream ends with ErrCorrupt, never with io.EOF.
func TestAStreamIsCheckedAtItsEnd(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := openFilms(t, b, nil)
		content := noise("v", large)
		item := must[largeentity.Item[film]](t)(table.Insert(t.Context(), newFilm(bytes.NewReader(content))))
		ref, _ := item.Blob("Video")

		b.Fault(fault.On("Blob.Get").Nth(1).Times(3).CutReply(30000))
		wantContent(t, item.Value.Video, content)
		b.ClearFaults()

		for name, bad := range map[string][]byte{"shorter": content[:large-1], "longer": append(noise("v", large), 'x'), "another": noise("w", large)} {
			put(t, table.Container(), ref.Name, bad)
			r := must[io.ReadCloser](t)(item.Value.Video.Open(t.Context()))
			if _, err := io.ReadAll(r); !errors.Is(err, largeentity.ErrCorrupt) {
				t.Errorf("%s: %v", name, err)
			}
			r.Close()
			if _, err := r.Read(make([]byte, 1)); err == nil || err == io.EOF {
				t.Errorf("%s, read on: %v", name, err)
			}
		}
		if _, err := table.Container().NewBlobClient(ref.Name).Delete(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := item.Value.Video.Open(t.Context()); !errors.Is(err, largeentity.ErrBlobGone) {
			t.Errorf("gone: %v", err)
		}
	})
}

func TestALostReplyDoesNotSpoilAStream(t *testing.T) {
	for _, op := range []string{"Blob.Put", "Blob.PutBlock", "Blob.PutBlockList"} {
		testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
			table := openFilms(t, b, nil)
			content := noise("v", block+1)
			if op == "Blob.Put" {
				content = content[:100]
			}
			b.Fault(fault.On(op).Nth(1).LoseReply())
			item := must[largeentity.Item[film]](t)(table.Insert(t.Context(), newFilm(bytes.NewReader(content))))
			wantContent(t, item.Value.Video, content)
		})
	}
}

func TestAStreamMayDieAnywhere(t *testing.T) {
	films := func(acct *storagetest.Account) (*largeentity.Table[film], error) {
		table, err := largeentity.New[film](acct.Tables().NewClient("Films"), acct.Container("films"), nil)
		if err == nil {
			largeentity.SetBlock(table, block)
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
		return second(table.Insert(ctx, newFilm(bytes.NewReader(content))))
	}, func(t *testing.T, acct *storagetest.Account) {
		table := must[*largeentity.Table[film]](t)(films(acct))
		want := 0
		item, err := table.Get(t.Context(), metropolis)
		if err == nil {
			wantContent(t, item.Value.Video, content)
			want = 1
		} else if !errors.Is(err, patterns.ErrNotFound) {
			t.Fatal(err)
		}
		for range 2 {
			time.Sleep(2 * day)
			must[largeentity.SweepReport](t)(table.Sweep(t.Context(), nil))
		}
		if n := len(stored(t, table.Container())); n != want {
			t.Errorf("%d blobs, want %d", n, want)
		}
	})
}
