package logdata_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestRecordsAreReadInTheOrderOfTheirTimes(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		one, two := newWriter(t, c, logdata.WriterOptions{Name: "one"}), newWriter(t, c, logdata.WriterOptions{Name: "two"})
		write(t, one, at(5), "e")
		write(t, one, at(1), "a") // a clock that was set back
		write(t, two, at(3), "c")
		write(t, two, at(4), "d")
		write(t, one, at(-1), "before")
		write(t, two, at(3600), "after")
		closeWriter(t, one)
		closeWriter(t, two)
		wantTexts(t, messages(t, c, at(-10), at(7200)), "before", "a", "c", "d", "e", "after")
		wantTexts(t, messages(t, c, at(1), at(5)), "a", "c", "d") // without the end
		wantTexts(t, messages(t, c, at(100), at(200)))

		es := assert.All(t, newReader(t, c, nil).Query(t.Context(), at(3600), at(3601), "", nil))
		if want := "web/2014/07/31/1300/two-000000.log"; len(es) != 1 || es[0].Blob != want || !es[0].Time.Equal(at(3600)) {
			t.Errorf("got %v", es)
		}
	})
}

func TestAWriterMakesNoUnnecessaryRequest(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		w := newWriter(t, b.Container(t), logdata.WriterOptions{})
		for i := range 100 {
			write(t, w, at(i), number(i))
		}
		b.WantOps(t)
		flush(t, w)
		b.WantOps(t, "Blob.Put", "Blob.Append")
		flush(t, w)
		b.WantOps(t)
		write(t, w, at(101), "x")
		flush(t, w)
		b.WantOps(t, "Blob.Append", "Blob.SetMetadata")
		write(t, w, at(3600), "next hour")
		closeWriter(t, w)
		b.WantOps(t, "Blob.Put", "Blob.Append")
		closeWriter(t, w)
		b.WantOps(t)
		assert.WantError(t, w.Write(t.Context(), logdata.Record{}), logdata.ErrClosed, "write after close")
	})
}

func TestSyncWritesAreStoredWhenTheyReturn(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{Sync: true})
		write(t, w, at(0), "a")
		wantTexts(t, messages(t, c, at(0), at(9)), "a")
		b.ResetRequests()
		write(t, w, at(1), "b")
		b.WantOps(t, "Blob.Append")
		wantTexts(t, messages(t, c, at(0), at(9)), "a", "b")
		var many sync.WaitGroup
		for i := range 20 {
			many.Go(func() { write(t, w, at(10+i), number(i)) })
		}
		many.Wait()
		assert.Equal(t, len(messages(t, c, at(10), at(60))), 20, "records")
		closeWriter(t, w)
	})
}

func TestAFaultStoresNoRecordTwiceAndLosesNone(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		for _, op := range []string{"Blob.Put", "Blob.Append", "Blob.SetMetadata"} {
			for n := 1; n <= 3 && (n == 1 || b.InProcess()); n++ {
				for name, rule := range map[string]storagetest.Rule{
					"reply":   storagetest.On(op).Nth(n).LoseReply(),
					"request": storagetest.On(op).Nth(n).LoseRequest(),
					"busy":    storagetest.On(op).Nth(n).Status(http.StatusServiceUnavailable, "ServerBusy"),
					"twice":   storagetest.On(op).Nth(n).Twice(),
				} {
					c := b.Container(t)
					b.ClearFaults()
					b.Fault(rule)
					w := newWriter(t, c, logdata.WriterOptions{})
					var want []string
					for i := range 4 {
						want = append(want, number(i))
						write(t, w, at(i*1800), number(i))
						flush(t, w)
					}
					closeWriter(t, w)
					b.ClearFaults()
					assert.EqualSlices(t, messages(t, c, at(0), at(7200)), want, op, n, name)
				}
			}
		}
	})
}

// The first append is carried out and the second is not; no reply to them arrives.
func TestAFlushWithoutAReplyIsCompletedByTheNextFlush(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{Sync: true})
		write(t, w, at(0), "a")
		b.Fault(storagetest.On("Blob.Append").LoseReply(), storagetest.On("Blob.Get").LoseRequest())
		err := w.Write(t.Context(), logdata.Record{Time: at(1), Message: "b"})
		assert.WantError(t, err, logdata.ErrPending)
		b.ClearFaults()
		b.Fault(storagetest.On("Blob.Append").LoseRequest())
		err = w.Write(t.Context(), logdata.Record{Time: at(2), Message: "c"})
		if !errors.Is(err, logdata.ErrPending) || !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		b.ClearFaults()
		closeWriter(t, w)
		wantTexts(t, messages(t, c, at(0), at(9)), "a", "b", "c")
	})
}

func TestWritersWithTheSameNameDoNotShareBlobs(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		one, two := newWriter(t, c, logdata.WriterOptions{Name: "w"}), newWriter(t, c, logdata.WriterOptions{Name: "w"})
		for i := range 3 {
			write(t, one, at(i), "one")
			write(t, two, at(i), "two")
			flush(t, one)
			flush(t, two)
		}
		closeWriter(t, one)
		closeWriter(t, two)
		got := messages(t, c, at(0), at(9))
		slices.Sort(got)
		wantTexts(t, got, "one", "one", "one", "two", "two", "two")
	})
}

func TestANewBlobIsStartedBeforeALimitIsReached(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		for name, o := range map[string]logdata.WriterOptions{
			"blocks": logdata.WithBlocks(logdata.WriterOptions{}, 2),
			"bytes":  {BlobBytes: 150},
		} {
			c := b.Container(t)
			o.Name = "w"
			w := newWriter(t, c, o)
			for i := range 5 {
				write(t, w, at(i), number(i))
				flush(t, w)
			}
			closeWriter(t, w)
			es := assert.All(t, newReader(t, c, nil).Query(t.Context(), at(0), at(9), "", nil))
			wantTexts(t, texts(es), "000", "001", "002", "003", "004")
			if want := "web/2014/07/31/1200/w-000002.log"; es[4].Blob != want {
				t.Errorf("%s: the last is in %s", name, es[4].Blob)
			}
		}
	})
}

func TestTheWriterContinuesInANewBlobIfItsBlobWasDeletedOrWrittenTo(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{Name: "w"})
		write(t, w, at(0), "a")
		flush(t, w)
		first := c.NewAppendBlobClient("web/2014/07/31/1200/w-000000.log")
		assert.NoError(t, assert.ErrorOf(first.AppendBlock(t.Context(), body("{\"time\":\"2014-07-31T12:00:00Z\",\"msg\":\"stranger\"}\n"), nil)))
		write(t, w, at(1), "b")
		flush(t, w)
		wantTexts(t, messages(t, c, at(0), at(9)), "a", "stranger", "b")
		assert.NoError(t, assert.ErrorOf(c.NewAppendBlobClient("web/2014/07/31/1200/w-000001.log").Delete(t.Context(), nil)))
		write(t, w, at(2), "c")
		closeWriter(t, w)
		wantTexts(t, messages(t, c, at(0), at(9)), "a", "stranger", "c")
	})
}

func TestARecordThatCannotBeStoredIsRefused(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *harness.Backend) {
		w := newWriter(t, b.Container(t), logdata.WriterOptions{})
		for name, r := range map[string]logdata.Record{
			"Time":  {Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
			"Attrs": {Attrs: []byte(`[1]`)},
			"":      {Message: strings.Repeat("x", logdata.MaxBlock)},
		} {
			var bad *logdata.RecordError
			err := w.Write(t.Context(), r)
			if !errors.As(err, &bad) || bad.Field != name {
				t.Errorf("%s: %v", name, err)
			}
			assert.Equal(t, errors.Is(err, patterns.ErrTooLarge), (name == ""), name, err)
		}
		closeWriter(t, w)
		b.WantOps(t)
	})
}

// The metadata must contain the same types as the lines, or a read by type would skip the
// blob.
func TestInvalidUTF8IsFoundByItsReplacement(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		for _, format := range []logdata.Format{logdata.JSON, logdata.Delimited} {
			c := b.Container(t)
			w := newWriter(t, c, logdata.WriterOptions{Format: format})
			r := logdata.Record{Time: at(0), Type: "a\xff\xfe", Message: "\xffb", Attrs: []byte("{\"k\xff\": \"\xffv\"}")}
			assert.NoError(t, w.Write(t.Context(), r))
			closeWriter(t, w)
			for _, types := range [][]string{nil, {"a\ufffd"}} {
				es := assert.All(t, newReader(t, c, &logdata.ReaderOptions{Format: format}).Query(t.Context(), at(0), at(1), "", &logdata.QueryOptions{Types: types}))
				if len(es) != 1 || es[0].Type != "a\ufffd" || es[0].Message != "\ufffdb" || string(es[0].Attrs) != "{\"k\ufffd\":\"\ufffdv\"}" {
					t.Errorf("%s, types %q: %+v", format.Name(), types, es)
				}
			}
		}
	})
}

func TestTheFirstAndTheLastPossibleTimesAreRead(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{})
		first, end := time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		write(t, w, first, "first")
		write(t, w, end.Add(-1), "last")
		closeWriter(t, w)
		wantTexts(t, messages(t, c, first, first.Add(time.Hour)), "first")
		wantTexts(t, messages(t, c, end.Add(-time.Hour), end), "last")
	})
}

func TestTheLargestRecordFits(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{})
		const frame = `{"time":"2014-07-31T12:00:00Z","level":"INFO","msg":""}` + "\n"
		large := strings.Repeat("x", logdata.MaxBlock-len(frame))
		write(t, w, at(0), large)
		write(t, w, at(1), "small")
		closeWriter(t, w)
		wantTexts(t, messages(t, c, at(0), at(9)), large, "small")
	})
}

func TestContainerReturnsTheClient(t *testing.T) {
	c := storagetest.New(t).Container("logs")
	if newWriter(t, c, logdata.WriterOptions{}).Container() != c || newReader(t, c, nil).Container() != c {
		t.Error("not the client that New took")
	}
}

func TestAMissingContainerIsReported(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{})
		assert.NoError(t, assert.ErrorOf(c.Delete(t.Context(), nil)))
		write(t, w, at(0), "a")
		assert.WantError(t, w.Close(t.Context()), logdata.ErrContainerNotFound, "close")
		err := assert.Failure(t, newReader(t, c, nil).Query(t.Context(), at(0), at(1), "", nil))
		assert.WantError(t, err, logdata.ErrContainerNotFound, "read")
	})
}
