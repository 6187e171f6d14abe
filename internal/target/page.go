package target

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"sync/atomic"
)

// Counted receives what a page contained.
type Counted interface {
	// Page is called once for a page, when it was read or closed.
	Page(rows, bytes int64)
}

// pageCount counts the rows of a page, or messages, while the client reads the body. A page is
// never used again, so that a client may close it twice, and while it reads.
type pageCount struct {
	io.ReadCloser
	then  Counted
	mark  [2]byte      // begins each row or message
	begun bool         // the last read ended within a mark
	read  atomic.Int64 // bytes, and oneRow for each mark; negative after then was called
}

const (
	oneRow = 1 << 40
	ended  = math.MinInt64
)

// Wrap replaces the body of resp, the reply to a [Query] or a [Poll], by one that calls then.
// It reports whether it did: other replies and failures have no rows. Pages are allocated
// together: one allocation for 64 requests.
func (r *Request) Wrap(resp *http.Response, then Counted) bool {
	if r.Kind != Query && r.Kind != Poll || resp.StatusCode >= http.StatusBadRequest || resp.Body == nil {
		return false
	}
	if len(r.pages) == 0 {
		r.pages = make([]pageCount, 64)
	}
	p := &r.pages[0]
	r.pages = r.pages[1:]
	p.ReadCloser, p.then, p.mark = resp.Body, then, [2]byte{'{', '"'}
	if r.Kind == Poll {
		p.mark = [2]byte{'<', 'I'} // InsertionTime
	}
	resp.Body = p
	return true
}

// Read counts the marks. They occur in no value, except for a string that ends with a brace:
// quotes within strings, and < in XML, are escaped.
func (p *pageCount) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	read := int64(n)
	for data := b[:n]; len(data) > 0; {
		if p.begun && data[0] == p.mark[1] {
			read += oneRow
		}
		i := bytes.IndexByte(data, p.mark[0])
		if p.begun = i >= 0; !p.begun {
			break
		}
		data = data[i+1:]
	}
	if n > 0 {
		p.read.Add(read)
	}
	if err == io.EOF {
		p.end()
	}
	return n, err
}

// Close reports what was read.
func (p *pageCount) Close() error {
	p.end()
	return p.ReadCloser.Close()
}

func (p *pageCount) end() {
	if p.read.Load() < 0 {
		return // the request may be another by now
	}
	read := p.read.Swap(ended)
	if read < 0 {
		return
	}
	rows, bytes := read/oneRow, read%oneRow
	if p.mark[0] == '{' {
		rows = max(rows-1, 0) // the page is an object, too
	}
	p.then.Page(rows, bytes)
}
