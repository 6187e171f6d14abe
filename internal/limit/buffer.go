package limit

import (
	"io"
	"slices"
	"sync"
)

// Replies are read into pooled buffers. A buffer above KeepBuffer bytes is not put back, so
// that one large reply does not occupy memory permanently.
const (
	minBuffer  = 4 << 10
	KeepBuffer = 8 << 20
)

var buffers sync.Pool

// GetBuffer returns a buffer of at least size bytes.
func GetBuffer(size int) *[]byte {
	// A pooled buffer that is too small is dropped. If it were put back, the pool would
	// return it again next time.
	if b, ok := buffers.Get().(*[]byte); ok && cap(*b) >= size {
		return b
	}
	b := make([]byte, 0, max(size, minBuffer))
	return &b
}

// PutBuffer lets others use a buffer.
func PutBuffer(b *[]byte) {
	if cap(*b) <= KeepBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// ReadAll reads r to its end into *buf, which it grows as needed. It fails with
// [ErrTooLong] if there are more than most bytes, also if the transport does not
// limit replies.
func ReadAll(buf *[]byte, r io.Reader, most int) ([]byte, error) {
	b := (*buf)[:0]
	for {
		if len(b) == cap(b) {
			if len(b) > most {
				return b, ErrTooLong
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
