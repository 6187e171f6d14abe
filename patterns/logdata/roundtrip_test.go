package logdata_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// entry is a record in the model, a plain list.
type entry struct {
	time time.Time
	text string
}

// Two Writers of the same name write over several hours, with faults. A read of any range
// returns exactly the records that a plain list contains for the range.
func TestAReadReturnsExactlyTheWrittenRecords(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		acct := storagetest.Start(nil)
		retry := policy.RetryOptions{MaxRetries: 1, RetryDelay: time.Nanosecond, MaxRetryDelay: time.Nanosecond}
		c := acct.ContainerWith("logs", &container.ClientOptions{ClientOptions: azcore.ClientOptions{Retry: retry}})
		if _, err := c.Create(t.Context(), nil); err != nil {
			r.Fatal(err)
		}
		o := logdata.WithBlocks(logdata.WriterOptions{Name: "w", FlushAge: never, BlobBytes: 400}, 3)
		if rapid.Bool().Draw(r, "delimited") {
			o.Format = logdata.Delimited
		}
		var writers []*logdata.Writer
		for i := range 2 {
			o.Sync = i == 1
			w, err := logdata.NewWriter(c, "web", &o)
			if err != nil {
				r.Fatal(err)
			}
			writers = append(writers, w)
		}
		second := rapid.IntRange(0, 3*3600)
		var model []entry
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			w := rapid.SampledFrom(writers).Draw(r, "writer")
			switch rapid.IntRange(0, 4).Draw(r, "step") {
			default:
				e := entry{at(second.Draw(r, "second")), number(len(model)) + rapid.SampledFrom(awkward[:len(awkward)-4]).Draw(r, "text")}
				err := w.Write(t.Context(), logdata.Record{Time: e.time, Message: e.text})
				if err != nil && !errors.Is(err, logdata.ErrPending) {
					r.Fatal(err)
				}
				model = append(model, e)
			case 3:
				w.Flush(t.Context()) // may fail; Close reports it
			case 4:
				acct.ClearFaults()
				rule := storagetest.On(rapid.SampledFrom([]string{"Blob.Put", "Blob.Append", "Blob.Get", "Blob.SetMetadata", "Blob.*"}).Draw(r, "op"))
				rule = rule.Nth(rapid.IntRange(1, 3).Draw(r, "nth")).Times(rapid.IntRange(1, 3).Draw(r, "times"))
				acct.Fault(rapid.SampledFrom([]storagetest.Rule{rule.LoseReply(), rule.LoseRequest(), rule.Twice(),
					rule.Status(http.StatusServiceUnavailable, "ServerBusy")}).Draw(r, "fault"))
			}
		}
		acct.ClearFaults()
		for _, w := range writers {
			if err := w.Close(t.Context()); err != nil {
				r.Fatal(err)
			}
		}
		a, b := second.Draw(r, "from"), second.Draw(r, "to")
		from, to := at(min(a, b)), at(max(a, b)+1)
		var want []string
		for _, e := range model {
			if !e.time.Before(from) && e.time.Before(to) {
				want = append(want, e.time.Format(time.TimeOnly)+e.text)
			}
		}
		slice := rapid.SampledFrom([]time.Duration{0, time.Minute * 10}).Draw(r, "slice")
		reader, err := logdata.NewReader(c, "web", &logdata.ReaderOptions{Format: o.Format, Slice: slice})
		if err != nil {
			r.Fatal(err)
		}
		var got []string
		last := time.Time{}
		for e, err := range reader.Query(t.Context(), from, to, "", nil) {
			if err != nil {
				r.Fatal(err)
			}
			if e.Time.Before(last) {
				r.Errorf("%v after %v", e.Time, last)
			}
			last = e.Time
			got = append(got, e.Time.Format(time.TimeOnly)+e.Message)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			r.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
