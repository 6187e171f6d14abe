package logdata_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns/logdata"
)

// noon is the hour in which most tests write.
var noon = time.Date(2014, 7, 31, 12, 0, 0, 0, time.UTC)

// never disables flushes by age.
const never = -1

// run runs body on storagetest and on Azurite, once each, because patterns.Accelerate does
// not change blob clients.
func run(t *testing.T, body func(*testing.T, *harness.Backend)) {
	t.Helper()
	harness.Run(t, unaccelerated(body))
}

func runInProcess(t *testing.T, body func(*testing.T, *harness.Backend)) {
	t.Helper()
	harness.RunInProcess(t, unaccelerated(body))
}

func unaccelerated(body func(*testing.T, *harness.Backend)) func(*testing.T, *harness.Backend) {
	return func(t *testing.T, b *harness.Backend) {
		if !b.Accelerated {
			body(t, b)
		}
	}
}

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func newWriter(t testing.TB, c *container.Client, o logdata.WriterOptions) *logdata.Writer {
	t.Helper()
	if o.FlushAge == 0 {
		o.FlushAge = never
	}
	w := assert.Must(logdata.NewWriter(c, "web", &o))(t)
	return w
}

func newReader(t testing.TB, c *container.Client, o *logdata.ReaderOptions) *logdata.Reader {
	t.Helper()
	r := assert.Must(logdata.NewReader(c, "web", o))(t)
	return r
}

func write(t testing.TB, w *logdata.Writer, when time.Time, message string) {
	t.Helper()
	assert.NoError(t, w.Write(t.Context(), logdata.Record{Time: when, Type: "INFO", Message: message}))
}

func flush(t testing.TB, w *logdata.Writer) {
	t.Helper()
	assert.NoError(t, w.Flush(t.Context()))
}

func closeWriter(t testing.TB, w *logdata.Writer) {
	t.Helper()
	assert.NoError(t, w.Close(t.Context()))
}

// messages returns the messages of [from, to).
func messages(t testing.TB, c *container.Client, from, to time.Time) []string {
	t.Helper()
	return texts(assert.All(t, newReader(t, c, nil).Query(t.Context(), from, to, "", nil)))
}

func texts(entries []logdata.Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Message)
	}
	return out
}

func wantTexts(t testing.TB, got []string, want ...string) {
	t.Helper()
	assert.EqualSlices(t, got, want)
}

func number(i int) string { return fmt.Sprintf("%03d", i) }

func body(text string) io.ReadSeekCloser { return streaming.NopCloser(strings.NewReader(text)) }
