package logdata_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAReadingAsksForNoMoreThanItMust(t *testing.T) {
	run(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.Options{})
		line := len(`{"time":"2014-07-31T12:00:00Z","level":"INFO","msg":"000"}` + "\n")
		for minute := range 120 {
			write(t, w, at(60*minute), number(minute))
			flush(t, w)
		}
		closed(t, w)
		b.ResetRequests()
		var stats logdata.Stats
		q := logdata.Query{From: at(240), To: at(360), Stats: &stats}
		wantTexts(t, texts(all(t, newReader(t, c, nil).Read(t.Context(), q))), "004", "005")
		wantRequests(t, b, "Blob.List", "Blob.Get")
		want := logdata.Stats{Lists: 1, Listed: 1, Read: 1, Gets: 1, Bytes: int64(2 * line), Lines: 2, Matched: 2}
		if stats != want {
			t.Errorf("touched %+v, want %+v", stats, want)
		}
		// Two hours, of which each has a blob.
		q.From, q.To = at(3540), at(3660)
		wantTexts(t, texts(all(t, newReader(t, c, &logdata.Options{Parallel: 1}).Read(t.Context(), q))), "059", "060")
		wantRequests(t, b, "Blob.List", "Blob.Get", "Blob.List", "Blob.Get")
		// No blob has a record of this type, and the metadata say so.
		q.Types = []string{"ERROR"}
		all(t, newReader(t, c, nil).Read(t.Context(), q))
		wantRequests(t, b, "Blob.List", "Blob.List")
		if stats.Skipped != 2 || stats.Read != 0 {
			t.Errorf("touched %+v", stats)
		}
		// Whole days are listed at once.
		q = logdata.Query{From: at(-12 * 3600), To: at(36 * 3600)}
		if n := len(all(t, newReader(t, c, nil).Read(t.Context(), q))); n != 120 {
			t.Errorf("%d records", n)
		}
		wantRequests(t, b, "Blob.List", "Blob.Get", "Blob.Get", "Blob.List")
	})
}

// Without the metadata of the later appends nothing is overlooked.
func TestOldMetadataHideNothing(t *testing.T) {
	run(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		b.Fault(fault.On("Blob.SetMetadata").Status(http.StatusForbidden, "AuthorizationFailure"))
		w := newWriter(t, c, logdata.Options{})
		for i := range 4 {
			write(t, w, at(60*i), number(i))
			flush(t, w)
		}
		closed(t, w)
		wantTexts(t, messages(t, c, at(0), at(1)), "000")
		wantTexts(t, messages(t, c, at(120), at(121)), "002")
		b.ClearFaults()
		// Nor do metadata that are not of this form, or of more than there is.
		for _, spans := range []string{"99999:0:0", "x", "1:0", "0:0:0", "5:9:1", "5:0:3600", "-5:0:0"} {
			es := all(t, newReader(t, c, nil).Read(t.Context(), logdata.Query{From: at(180), To: at(181)}))
			if len(es) != 1 {
				t.Fatalf("%s: %d entries", spans, len(es))
			}
			meta := map[string]*string{"spans": &spans}
			if _, err := c.NewBlobClient(es[0].Blob).SetMetadata(t.Context(), meta, nil); err != nil {
				t.Fatal(err)
			}
			wantTexts(t, messages(t, c, at(60), at(200)), "001", "002", "003")
		}
	})
}

func TestManyAppendsAreSummedUpInFewSpans(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.Options{})
		for i := range 500 {
			write(t, w, at(7*i), number(i))
			flush(t, w)
		}
		closed(t, w)
		for _, i := range []int{0, 1, 63, 64, 65, 250, 498, 499} {
			var stats logdata.Stats
			q := logdata.Query{From: at(7 * i), To: at(7*i + 1), Stats: &stats}
			wantTexts(t, texts(all(t, newReader(t, c, nil).Read(t.Context(), q))), number(i))
			if stats.Gets != 1 || stats.Lines > 17 {
				t.Errorf("%d: touched %+v", i, stats)
			}
		}
	})
}

func TestACursorGoesOnBehindItsEntry(t *testing.T) {
	run(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		var want []string
		for i := range 3 {
			w := newWriter(t, c, logdata.Options{Name: number(i)})
			for j := range 4 {
				write(t, w, at(j*1800), fmt.Sprint(j, i)) // the same times in each
			}
			closed(t, w)
		}
		q := logdata.Query{From: at(0), To: at(7200)}
		whole := texts(all(t, newReader(t, c, nil).Read(t.Context(), q)))
		r := newReader(t, c, &logdata.Options{Slice: time.Minute * 15})
		for {
			var last *logdata.Entry
			for e, err := range r.Read(t.Context(), q) {
				if err != nil {
					t.Fatal(err)
				}
				last = &e
				break
			}
			if last == nil {
				break
			}
			if want = append(want, last.Message); len(want) > len(whole) {
				t.Fatalf("a cursor does not go on: %q", want)
			}
			q.Cursor = last.Cursor()
		}
		wantTexts(t, want, whole...)
		if len(whole) != 12 {
			t.Errorf("%d entries", len(whole))
		}

		other := q
		other.To = at(9000)
		for name, bad := range map[string]logdata.Query{
			"another range": other,
			"damaged":       {From: q.From, To: q.To, Cursor: q.Cursor[1:]},
		} {
			b.ResetRequests()
			if err := failure(t, r.Read(t.Context(), bad)); !errors.Is(err, patterns.ErrBadCursor) {
				t.Errorf("%s: %v", name, err)
			}
			wantRequests(t, b)
		}
		if err := failure(t, newReader(t, b.Container(t), nil).Read(t.Context(), q)); !errors.Is(err, patterns.ErrBadCursor) {
			t.Errorf("another container: %v", err)
		}
	})
}

func TestShortPagesHideNoBlob(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		var want []string
		for i := range 7 {
			w := newWriter(t, c, logdata.Options{Name: number(i)})
			write(t, w, at(i), number(i))
			closed(t, w)
			want = append(want, number(i))
		}
		for _, rule := range []fault.Rule{fault.On("Blob.List").ShortPage(1), fault.On("Blob.List").ShortPage(3)} {
			b.ClearFaults()
			b.Fault(rule)
			wantTexts(t, messages(t, c, at(0), at(9)), want...)
		}
	})
}

func TestAnAnswerThatBreaksOffIsAskedForAgain(t *testing.T) {
	run(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		w := newWriter(t, c, logdata.Options{})
		var want []string
		for i := range 50 {
			write(t, w, at(i), number(i))
			want = append(want, number(i))
		}
		closed(t, w)
		b.Fault(fault.On("Blob.Get").Times(5).CutReply(300))
		wantTexts(t, messages(t, c, at(0), at(60)), want...)
		b.ClearFaults()
		b.Fault(fault.On("Blob.Get").CutReply(0))
		err := failure(t, newReader(t, c, nil).Read(t.Context(), logdata.Query{From: at(0), To: at(60)}))
		if !errors.Is(err, logdata.ErrTruncated) {
			t.Errorf("got %v", err)
		}
	})
}

func TestABlobThatIsGoneIsLeftOut(t *testing.T) {
	run(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		for i := range 3 {
			w := newWriter(t, c, logdata.Options{Name: number(i)})
			write(t, w, at(i), number(i))
			closed(t, w)
		}
		b.Fault(fault.On("Blob.Get").Nth(2).Status(http.StatusNotFound, "BlobNotFound"))
		var stats logdata.Stats
		q := logdata.Query{From: at(0), To: at(9), Stats: &stats}
		wantTexts(t, texts(all(t, newReader(t, c, &logdata.Options{Parallel: 1}).Read(t.Context(), q))), "000", "002")
		if stats.Gone != 1 {
			t.Errorf("touched %+v", stats)
		}
		b.ClearFaults()
		b.Fault(fault.On("Blob.Get").Status(http.StatusForbidden, "AuthorizationFailure"))
		err := failure(t, newReader(t, c, nil).Read(t.Context(), q))
		var refused *azcore.ResponseError
		if !errors.As(err, &refused) || strings.Contains(err.Error(), "http") {
			t.Errorf("got %v", err)
		}
	})
}

func TestALineThatIsNotOfTheFormatIsNamedOrSkipped(t *testing.T) {
	run(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		const first = `{"time":"2014-07-31T12:00:00Z","msg":"a"}` + "\n"
		text := first + "rubbish\n\n" + `{"time":"2014-07-31T12:00:01Z","msg":"b"}` // not ended
		name := "web/2014/07/31/1200/other.log"
		if _, err := c.NewBlockBlobClient(name).Upload(t.Context(), body(text), nil); err != nil {
			t.Fatal(err)
		}
		q := logdata.Query{From: at(0), To: at(9)}
		var bad *logdata.LineError
		if err := failure(t, newReader(t, c, nil).Read(t.Context(), q)); !errors.As(err, &bad) ||
			bad.Blob != name || bad.Offset != int64(len(first)) {
			t.Errorf("got %v", err)
		}
		var skipped []int64
		r := newReader(t, c, &logdata.Options{BadLine: func(e *logdata.LineError) error {
			skipped = append(skipped, e.Offset)
			return nil
		}})
		wantTexts(t, texts(all(t, r.Read(t.Context(), q))), "a", "b")
		if !slices.Equal(skipped, []int64{int64(len(first))}) {
			t.Errorf("skipped %v", skipped)
		}
	})
}

func TestNamesOfOtherThingsAreNoBlobsOfTheLog(t *testing.T) {
	run(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		for _, name := range []string{"web/2014/07/31/1200/x.txt", "web/2014/07/31/1200/sub/x.log", "web/2014/07/31/1201/x.log", "web/2014/07/31/x.log"} {
			if _, err := c.NewBlockBlobClient(name).Upload(t.Context(), body("rubbish"), nil); err != nil {
				t.Fatal(err)
			}
		}
		wantTexts(t, messages(t, c, at(-12*3600), at(12*3600)))
	})
}

// In a bubble a goroutine that is left makes the test fail.
func TestALoopThatIsLeftLeavesNothingRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := logsOf(t, storagetest.New(t))
		for i := range 20 {
			w := newWriter(t, c, logdata.Options{Name: number(i)})
			write(t, w, at(i), number(i))
			closed(t, w)
		}
		seen := 0
		for range newReader(t, c, nil).Read(t.Context(), logdata.Query{From: at(0), To: at(60)}) {
			seen++
			break
		}
		if seen != 1 {
			t.Errorf("%d entries", seen)
		}
	})
}

func TestBadQueriesAndOptionsAreRefusedBeforeAnyRequest(t *testing.T) {
	runInProcess(t, func(t *testing.T, b *testbed.Backend) {
		c := b.Container(t)
		r := newReader(t, c, nil)
		for _, q := range []logdata.Query{{}, {From: at(0)}, {To: at(0)}, {From: at(0), To: time.Date(10000, 1, 1, 0, 0, 0, 1, time.UTC)}} {
			if err := failure(t, r.Read(t.Context(), q)); !errors.Is(err, logdata.ErrBadOption) {
				t.Errorf("%v: %v", q, err)
			}
		}
		wantTexts(t, texts(all(t, r.Read(t.Context(), logdata.Query{From: at(9), To: at(0)}))))
		for _, o := range []logdata.Options{{FlushBytes: logdata.MaxBlock + 1}, {FlushRecords: -1}, {BufferBytes: 1},
			{Parallel: -1}, {BlobBytes: -1}, {Slice: 7 * time.Minute}, {Slice: -time.Hour}, {Name: "a/b"}, {Name: "a\n"}} {
			if _, err := logdata.NewWriter(c, "web", &o); !errors.Is(err, logdata.ErrBadOption) {
				t.Errorf("%+v: %v", o, err)
			}
		}
		for _, service := range []string{"", "/web", "web/", "a//b", "a/../b", "a\\b", "a\x00", "\xff", strings.Repeat("a", 500)} {
			if _, err := logdata.NewReader(c, service, nil); !errors.Is(err, logdata.ErrBadOption) {
				t.Errorf("%q: %v", service, err)
			}
		}
		if _, err := logdata.NewWriter(nil, "web", nil); !errors.Is(err, patterns.ErrNil) {
			t.Errorf("no container: %v", err)
		}
		if _, err := logdata.NewHandler(nil, nil); !errors.Is(err, patterns.ErrNil) {
			t.Errorf("no writer: %v", err)
		}
		wantRequests(t, b)
	})
}
