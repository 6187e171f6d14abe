package logdata_test

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAReadMakesNoUnnecessaryRequest(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{})
		line := len(`{"time":"2014-07-31T12:00:00Z","level":"INFO","msg":"000"}` + "\n")
		for minute := range 120 {
			write(t, w, at(60*minute), number(minute))
			flush(t, w)
		}
		closeWriter(t, w)
		b.ResetRequests()
		var stats logdata.Stats
		o := logdata.QueryOptions{Stats: &stats}
		wantTexts(t, texts(assert.All(t, newReader(t, c, nil).Query(t.Context(), at(240), at(360), "", &o))), "004", "005")
		b.WantOps(t, "Blob.List", "Blob.Get")
		want := logdata.Stats{Lists: 1, Listed: 1, Read: 1, Gets: 1, Bytes: int64(2 * line), Lines: 2, Matched: 2}
		assert.Equal(t, stats, want, "stats")
		// Two hours with a blob each.
		wantTexts(t, texts(assert.All(t, newReader(t, c, &logdata.ReaderOptions{Parallel: 1}).Query(t.Context(), at(3540), at(3660), "", &o))), "059", "060")
		b.WantOps(t, "Blob.List", "Blob.Get", "Blob.List", "Blob.Get")
		// By its metadata no blob contains a record of this type.
		o.Types = []string{"ERROR"}
		assert.All(t, newReader(t, c, nil).Query(t.Context(), at(3540), at(3660), "", &o))
		b.WantOps(t, "Blob.List", "Blob.List")
		if stats.Skipped != 2 || stats.Read != 0 {
			t.Errorf("stats %+v", stats)
		}
		// A whole day takes one list request.
		assert.Equal(t, len(messages(t, c, at(-12*3600), at(36*3600))), 120, "records")
		b.WantOps(t, "Blob.List", "Blob.Get", "Blob.Get", "Blob.List")
	})
}

func TestOutdatedOrInvalidMetadataHideNoRecord(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		b.Fault(storagetest.On("Blob.SetMetadata").Status(http.StatusForbidden, "AuthorizationFailure"))
		w := newWriter(t, c, logdata.WriterOptions{})
		for i := range 4 {
			write(t, w, at(60*i), number(i))
			flush(t, w)
		}
		closeWriter(t, w)
		wantTexts(t, messages(t, c, at(0), at(1)), "000")
		wantTexts(t, messages(t, c, at(120), at(121)), "002")
		b.ClearFaults()
		// Invalid metadata, and metadata of more bytes than the blob has.
		for _, spans := range []string{"99999:0:0", "x", "1:0", "0:0:0", "5:9:1", "5:0:3600", "-5:0:0"} {
			es := assert.All(t, newReader(t, c, nil).Query(t.Context(), at(180), at(181), "", nil))
			assert.Equal(assert.Now(t), len(es), 1, spans, "entries")
			meta := map[string]*string{"spans": &spans}
			assert.NoError(t, assert.ErrorOf(c.NewBlobClient(es[0].Blob).SetMetadata(t.Context(), meta, nil)))
			wantTexts(t, messages(t, c, at(60), at(200)), "001", "002", "003")
		}
	})
}

func TestManyAppendsAreJoinedIntoFewSpans(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{})
		for i := range 500 {
			write(t, w, at(7*i), number(i))
			flush(t, w)
		}
		closeWriter(t, w)
		for _, i := range []int{0, 1, 63, 64, 65, 250, 498, 499} {
			var stats logdata.Stats
			entries := newReader(t, c, nil).Query(t.Context(), at(7*i), at(7*i+1), "", &logdata.QueryOptions{Stats: &stats})
			wantTexts(t, texts(assert.All(t, entries)), number(i))
			if stats.Gets != 1 || stats.Lines > 17 {
				t.Errorf("%d: stats %+v", i, stats)
			}
		}
	})
}

func TestACursorContinuesAfterItsEntry(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		for i := range 3 {
			w := newWriter(t, c, logdata.WriterOptions{Name: number(i)})
			for j := range 4 {
				write(t, w, at(j*1800), fmt.Sprint(j, i)) // the same times in each
			}
			closeWriter(t, w)
		}
		from, to := at(0), at(7200)
		want := messages(t, c, from, to)
		assert.Equal(t, len(want), 12, "entries")
		var got []string
		cursor := ""
		r := newReader(t, c, &logdata.ReaderOptions{Slice: time.Minute * 15})
		for {
			var last *logdata.Entry
			for e, err := range r.Query(t.Context(), from, to, cursor, nil) {
				assert.NoError(t, err)
				last = &e
				break
			}
			if last == nil {
				break
			}
			if got = append(got, last.Message); len(got) > len(want) {
				t.Fatalf("the cursor does not advance: %q", got)
			}
			cursor = last.Cursor()
		}
		wantTexts(t, got, want...)

		other := newReader(t, b.Container(t), nil)
		b.ResetRequests()
		for name, entries := range map[string]iter.Seq2[logdata.Entry, error]{
			"another range":     r.Query(t.Context(), from, at(9000), cursor, nil),
			"a damaged cursor":  r.Query(t.Context(), from, to, cursor[1:], nil),
			"another container": other.Query(t.Context(), from, to, cursor, nil),
		} {
			assert.WantError(t, assert.Failure(t, entries), patterns.ErrBadCursor, name)
		}
		b.WantOps(t)
	})
}

func TestShortPagesHideNoBlob(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		var want []string
		for i := range 7 {
			w := newWriter(t, c, logdata.WriterOptions{Name: number(i)})
			write(t, w, at(i), number(i))
			closeWriter(t, w)
			want = append(want, number(i))
		}
		for _, rule := range []storagetest.Rule{storagetest.On("Blob.List").ShortPage(1), storagetest.On("Blob.List").ShortPage(3)} {
			b.ClearFaults()
			b.Fault(rule)
			wantTexts(t, messages(t, c, at(0), at(9)), want...)
		}
	})
}

func TestADownloadThatBreaksOffIsContinued(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{})
		var want []string
		for i := range 50 {
			write(t, w, at(i), number(i))
			want = append(want, number(i))
		}
		closeWriter(t, w)
		b.Fault(storagetest.On("Blob.Get").Times(5).CutReply(300))
		wantTexts(t, messages(t, c, at(0), at(60)), want...)
		b.ClearFaults()
		b.Fault(storagetest.On("Blob.Get").CutReply(0))
		err := assert.Failure(t, newReader(t, c, nil).Query(t.Context(), at(0), at(60), "", nil))
		assert.WantError(t, err, logdata.ErrTruncated)
	})
}

func TestABlobDeletedDuringTheReadIsSkippedAndCounted(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		for i := range 3 {
			w := newWriter(t, c, logdata.WriterOptions{Name: number(i)})
			write(t, w, at(i), number(i))
			closeWriter(t, w)
		}
		b.Fault(storagetest.On("Blob.Get").Nth(2).Status(http.StatusNotFound, "BlobNotFound"))
		var stats logdata.Stats
		r := newReader(t, c, &logdata.ReaderOptions{Parallel: 1})
		wantTexts(t, texts(assert.All(t, r.Query(t.Context(), at(0), at(9), "", &logdata.QueryOptions{Stats: &stats}))), "000", "002")
		assert.Equal(t, stats.Gone, 1, "stats", stats)
	})
}

func TestAFailedRequestIsAnErrorThatNamesTheBlob(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.WriterOptions{Name: "w"})
		write(t, w, at(0), "a")
		closeWriter(t, w)
		b.Fault(storagetest.On("Blob.Get").Status(http.StatusForbidden, "AuthorizationFailure"))
		err := assert.Failure(t, newReader(t, c, nil).Query(t.Context(), at(0), at(9), "", nil))
		var failed *patterns.Error
		if !errors.As(err, &failed) || failed.Op != "read" || failed.Status != http.StatusForbidden || failed.Code != "AuthorizationFailure" {
			t.Errorf("got %v", err)
		}
		if text := err.Error(); !strings.Contains(text, "web/2014/07/31/1200/w-000000.log") || strings.Contains(text, "http") {
			t.Errorf("message %q", text)
		}
		var reply *azcore.ResponseError
		if !errors.As(err, &reply) {
			t.Errorf("no reply of the SDK in %v", err)
		}
	})
}

func TestABadLineIsReportedAndSkipped(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		const first = `{"time":"2014-07-31T12:00:00Z","msg":"a"}` + "\n"
		text := first + "rubbish\n\n" + `{"time":"2014-07-31T12:00:01Z","msg":"b"}` // no newline
		name := "web/2014/07/31/1200/other.log"
		assert.NoError(t, assert.ErrorOf(c.NewBlockBlobClient(name).Upload(t.Context(), body(text), nil)))
		var got []logdata.Entry
		var skipped []logdata.LineError
		for e, err := range newReader(t, c, nil).Query(t.Context(), at(0), at(9), "", nil) {
			var bad *logdata.LineError
			switch {
			case err == nil:
				got = append(got, e)
			case errors.As(err, &bad):
				skipped = append(skipped, *bad)
			default:
				t.Fatal(err)
			}
		}
		wantTexts(t, texts(got), "a", "b")
		if len(skipped) != 1 || skipped[0].Blob != name || skipped[0].Line != 2 || skipped[0].Offset != int64(len(first)) {
			t.Errorf("skipped %v", skipped)
		}
	})
}

func TestBlobsWithOtherNamesAreIgnored(t *testing.T) {
	run(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		for _, name := range []string{"web/2014/07/31/1200/x.txt", "web/2014/07/31/1200/sub/x.log", "web/2014/07/31/1201/x.log", "web/2014/07/31/x.log"} {
			assert.NoError(t, assert.ErrorOf(c.NewBlockBlobClient(name).Upload(t.Context(), body("rubbish"), nil)))
		}
		wantTexts(t, messages(t, c, at(-12*3600), at(12*3600)))
	})
}

// synctest.Test fails if a goroutine is still running at its end.
func TestLeavingTheLoopEndsAllGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := logsOf(t, storagetest.New(t))
		for i := range 20 {
			w := newWriter(t, c, logdata.WriterOptions{Name: number(i)})
			write(t, w, at(i), number(i))
			closeWriter(t, w)
		}
		seen := 0
		for range newReader(t, c, nil).Query(t.Context(), at(0), at(60), "", nil) {
			seen++
			break
		}
		assert.Equal(t, seen, 1, "entries")
	})
}

func TestInvalidRangesAndOptionsAreRefusedWithoutARequest(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *harness.Backend) {
		c := b.Container(t)
		r := newReader(t, c, nil)
		for _, bounds := range [][2]time.Time{{}, {at(0), time.Time{}}, {time.Time{}, at(0)}, {at(0), time.Date(10000, 1, 1, 0, 0, 0, 1, time.UTC)}} {
			assert.WantError(t, assert.Failure(t, r.Query(t.Context(), bounds[0], bounds[1], "", nil)), patterns.ErrBadOption, bounds)
		}
		wantTexts(t, texts(assert.All(t, r.Query(t.Context(), at(9), at(0), "", nil))))
		for _, o := range []logdata.WriterOptions{{FlushBytes: logdata.MaxBlock + 1}, {FlushRecords: -1}, {BufferBytes: 1},
			{BlobBytes: -1}, {Name: "a/b"}, {Name: "a\n"}} {
			assert.WantError(t, assert.ErrorOf(logdata.NewWriter(c, "web", &o)), patterns.ErrBadOption, o)
		}
		for _, o := range []logdata.ReaderOptions{{Parallel: -1}, {Parallel: 1025}, {Slice: 7 * time.Minute}, {Slice: -time.Hour}, {Slice: 1}} {
			assert.WantError(t, assert.ErrorOf(logdata.NewReader(c, "web", &o)), patterns.ErrBadOption, o)
		}
		for _, service := range []string{"", "/web", "web/", "a//b", "a/../b", "a\\b", "a\x00", "\xff", strings.Repeat("a", 500)} {
			assert.WantError(t, assert.ErrorOf(logdata.NewReader(c, service, nil)), patterns.ErrBadOption, service)
		}
		assert.WantError(t, assert.ErrorOf(logdata.NewWriter(nil, "web", nil)), patterns.ErrNil, "no container")
		assert.WantError(t, assert.ErrorOf(logdata.NewHandler(nil, nil)), patterns.ErrNil, "no writer")
		b.WantOps(t)
	})
}
