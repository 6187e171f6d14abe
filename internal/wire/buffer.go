package wire

import (
	"bytes"
	"math"
	"sync/atomic"

	"github.com/azpatterns/azpatterns/internal/limit"
)

// replySize returns the size of the buffer for a reply.
func (c *Client) replySize(contentLength int64) int {
	n := contentLength
	if n < 0 {
		n = c.lastReply.Load()
	}
	// The extra bytes are for the read that finds the end. The length may be wrong, so it
	// is limited.
	return int(min(n, limit.KeepBuffer)) + 512
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
		limit.PutBuffer(b.buf)
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
