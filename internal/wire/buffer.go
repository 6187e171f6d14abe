package wire

import (
	"bytes"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/limit"
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

// readAll reads r to its end into *buf, which it grows as needed. It fails with
// [limit.ErrTooLong] if there are more than most bytes, also if the transport does not
// limit replies.
func readAll(buf *[]byte, r io.Reader, most int) ([]byte, error) {
	b := (*buf)[:0]
	for {
		if len(b) == cap(b) {
			if len(b) > most {
				return b, limit.ErrTooLong
			}
			// Twice as large each time: with the smaller steps of append, the buffers that
			// are left to the garbage collector would have several times this size.
			b = slices.Grow(b, min(max(len(b), minBuffer), most+1-len(b)))
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

// pooledBody is the body of a request in a pooled buffer, with a reference count. A transport may
// read it even after it has returned a reply, until it closes its reader. So each reader
// holds a reference until it is closed, and the call holds one.
type pooledBody struct {
	buf  *[]byte
	refs atomic.Int32
}

func newBody(buf *[]byte) *pooledBody {
	b := &pooledBody{buf: buf}
	b.refs.Store(1)
	return b
}

// fixedBody returns a body of bytes that belong to the caller and are not pooled.
func fixedBody(text []byte) *pooledBody {
	b := newBody(&text)
	b.neverPool()
	return b
}

// neverPool leaves the buffer to the garbage collector.
func (b *pooledBody) neverPool() { b.refs.Store(math.MaxInt32 / 2) } // never reaches 0

// release releases one reference.
func (b *pooledBody) release() {
	if b.refs.Add(-1) == 0 {
		putBuffer(b.buf)
	}
}

// reader returns a reader from the start of the body. It must not be called after the call
// has released its reference.
func (b *pooledBody) reader() *bodyReader {
	b.refs.Add(1)
	r := &bodyReader{body: b}
	r.Reset(*b.buf)
	return r
}

type bodyReader struct {
	bytes.Reader
	body   *pooledBody
	sent   bool // the request has the reader
	closed atomic.Bool
}

// Seek implements [io.Seeker]. A reader that a policy rewinds is sent again, so its first Close
// is not its last use.
func (r *bodyReader) Seek(offset int64, whence int) (int64, error) {
	if r.sent {
		r.body.neverPool()
	}
	return r.Reader.Seek(offset, whence)
}

// Close implements [io.Closer].
func (r *bodyReader) Close() error {
	if !r.closed.Swap(true) {
		r.body.release()
	}
	return nil
}
