package wire

import (
	"bytes"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// Replies are read into pooled buffers. A buffer above keepBuffer bytes is not put back, so
// that one large reply does not occupy memory permanently.
const (
	minBuffer  = 4 << 10
	keepBuffer = 8 << 20
)

var buffers sync.Pool

func getBuffer(size int) *[]byte {
	// A pooled buffer that is too small is dropped. If it were put back, the pool would
	// return it again next time.
	if b, ok := buffers.Get().(*[]byte); ok && cap(*b) >= size {
		return b
	}
	b := make([]byte, 0, max(size, minBuffer))
	return &b
}

func putBuffer(b *[]byte) {
	if cap(*b) <= keepBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// readAll reads r to its end into *buf, which it grows as needed, but not beyond the limit:
// an endless reply must not exhaust memory.
func readAll(buf *[]byte, r io.Reader, limit int64) ([]byte, error) {
	b := (*buf)[:0]
	for {
		if len(b) == cap(b) {
			if int64(len(b)) >= limit {
				return b, errEndless
			}
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err != nil {
			*buf = b
			if err == io.EOF {
				err = nil
			}
			return b, err
		}
	}
}

var errEndless = azerr.Sentinel("longer than any reply of the service")

// maxReply returns about the most bytes that the reply to c can have. A row has at most
// 1 MiB, and less than 4 MiB as JSON, in which the two bytes of a UTF-16 unit are at most
// six. Cosmos DB permits twice as much. The codec cannot decode more than 2 GiB.
func (c *call) maxReply() int64 { return min(int64(max(c.rows, 1))*(8<<20), 2<<30) }

// replySize returns the size of the buffer for a reply.
func (c *Client) replySize(contentLength int64) int {
	n := contentLength
	if n < 0 {
		n = c.lastReply.Load()
	}
	// The extra bytes are for the read that finds the end. The length may be wrong, so it
	// is limited.
	return int(min(n, keepBuffer)) + 512
}

// body is the body of a request in a pooled buffer, with a reference count. A transport may
// read it even after it has returned a reply, until it closes its reader. So each reader
// holds a reference until it is closed, and the call holds one.
type body struct {
	buf  *[]byte
	refs atomic.Int32
}

func newBody(buf *[]byte) *body {
	b := &body{buf: buf}
	b.refs.Store(1)
	return b
}

// fixedBody returns a body of bytes that belong to the caller and are not pooled.
func fixedBody(text []byte) *body {
	b := newBody(&text)
	b.refs.Store(math.MaxInt32 / 2) // never reaches 0
	return b
}

// release releases one reference.
func (b *body) release() {
	if b.refs.Add(-1) == 0 {
		putBuffer(b.buf)
	}
}

// reader returns a reader from the start of the body. It must not be called after the call
// has released its reference.
func (b *body) reader() io.ReadCloser {
	b.refs.Add(1)
	r := &bodyReader{body: b}
	r.Reset(*b.buf)
	return r
}

type bodyReader struct {
	bytes.Reader
	body   *body
	closed atomic.Bool
}

func (r *bodyReader) Close() error {
	if !r.closed.Swap(true) {
		r.body.release()
	}
	return nil
}
