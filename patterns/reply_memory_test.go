//go:build !race

// The race detector adds memory of its own to each allocation.

package patterns_test

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/limit"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// allocated returns how many bytes are allocated while f runs. The heap does not grow by more, whatever the garbage
// collector does meanwhile.
func allocated(f func()) int {
	total := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	before := total()
	f()
	return int(total() - before)
}

// dense is a reply of a size that has as many elements as fit in.
func dense(size int, head, element, end string) []byte {
	b := append(make([]byte, 0, size), head...)
	b = append(b, bytes.Repeat([]byte(element), (size-len(head)-len(end))/len(element))...)
	return append(b, end...)
}

// The documentation of LimitReplies states these figures: how many times its size a reply can take, garbage
// included. The replies that the SDK decodes are smaller than the limit here, so that the test takes less memory.
func TestAReplyTakesAtMostTheMemoryOfTheDocumentation(t *testing.T) {
	const bySDK, messages = 2 << 20, 1
	rows := func(size int) []byte { return dense(size, `{"value":[`, `{},`, `{}]}`) }
	row := func(size int) []byte { return dense(size, `{"PartitionKey":"hits","RowKey":"0","X":"`, `x`, `"}`) }
	properties := func(size int) []byte {
		return dense(size, `{"PartitionKey":"hits","RowKey":"0"`, `,"X":1`, `}`)
	}
	blobs := func(size int) []byte {
		return dense(size, `<?xml version="1.0"?><EnumerationResults><Blobs>`, `<Blob/>`, `</Blobs></EnumerationResults>`)
	}
	queue := func(size int) []byte {
		return dense(size, `<?xml version="1.0"?><QueueMessagesList>`, `<QueueMessage/>`, `</QueueMessagesList>`)
	}
	for _, c := range []struct {
		call        string
		accelerated bool
		reply       func(int) []byte
		size, times int
	}{
		{"Get", true, row, limit.MaxReply, 5},
		{"Get", true, properties, limit.MaxReply, 5},
		{"Query", true, rows, limit.MaxReply, 5},
		{"Insert", true, row, limit.MaxReply, 5},
		{"Batch", true, rows, limit.MaxReply, 5},
		{"Get", false, row, bySDK, 160},
		{"Query", false, rows, bySDK, 160},
		{"Insert", false, properties, bySDK, 160},
		{"Batch", false, rows, bySDK, 160},
		{"highvolumedelete.List", true, rows, bySDK, 160},
		{"largeentity.Sweep", true, blobs, bySDK, 160},
		{"logdata.Query", true, blobs, bySDK, 160},
		{"PoisonQueue.Peek", true, queue, limit.MaxReply, messages},
	} {
		acct := storagetest.New(t)
		m := &middle{inner: acct.Transport()}
		assert.NoError(t, assert.ErrorOf(acct.Tables().CreateTable(t.Context(), "people", nil)))
		calls := exposedCalls(t, m, acct.ConnectionString(), "people", c.accelerated)
		e := calls[slices.IndexFunc(calls, func(e exposed) bool { return e.name == c.call })]
		text := c.reply(c.size)
		contentType := "application/json"
		if text[0] == '<' {
			contentType = "application/xml"
		}
		m.replace = func(_ int64, req *http.Request, _ *http.Response) *http.Response {
			header := http.Header{"Content-Type": {contentType}, "Etag": {`W/"1"`}}
			return &http.Response{StatusCode: http.StatusOK, Request: req, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: -1, Header: header}
		}
		n := allocated(func() { _ = e.call(t.Context()) }) // it may fail or succeed
		t.Logf("%s, accelerated %v: %d KiB for a reply of %d KiB", c.call, c.accelerated, n>>10, c.size>>10)
		if n > c.times*c.size {
			t.Errorf("%s, accelerated %v: %d KiB for a reply of %d KiB, at most %d times as much is documented", c.call, c.accelerated, n>>10, c.size>>10, c.times)
		}
		if m.requests.Load() == 0 {
			t.Errorf("%s: no request", c.call)
		}
	}
}
