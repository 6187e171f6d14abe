package target

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// Counted receives what a page contained.
type Counted interface {
	// Page is called once for a page, when it was read or closed.
	Page(rows, bytes int64)
}

// Pages counts the rows of pages, or their messages, while the client reads them. The zero
// value is ready to use. It is safe for concurrent use.
type Pages struct{ pool sync.Pool }

// page is a body. It is never used again, so that a client may close it twice, and while it
// reads.
type page struct {
	io.ReadCloser
	then     Counted
	ended    atomic.Bool // then was called
	mark     [2]byte     // begins each row or message
	half     bool        // the last read ended within a mark
	rows     atomic.Int64
	received atomic.Int64
}

// pages are allocated together: one allocation for so many requests.
type pages struct {
	page [64]page
	used int
}

// Wrap replaces the body of resp, the reply to a [Query] or a [Poll], by one that calls then.
// It reports whether it did: other replies and failures have no rows.
func (p *Pages) Wrap(kind Kind, resp *http.Response, then Counted) bool {
	if kind != Query && kind != Poll || resp.StatusCode >= http.StatusBadRequest || resp.Body == nil {
		return false
	}
	all, _ := p.pool.Get().(*pages)
	if all == nil {
		all = new(pages)
	}
	body := &all.page[all.used]
	if all.used++; all.used < len(all.page) {
		p.pool.Put(all)
	}
	body.ReadCloser, body.then, body.mark = resp.Body, then, [2]byte{'{', '"'}
	if kind == Poll {
		body.mark = [2]byte{'<', 'I'} // InsertionTime
	} else {
		body.rows.Store(-1) // the page is an object, too
	}
	resp.Body = body
	return true
}

// Read counts the marks. They occur in no value, except for a string that ends with a brace:
// quotes within strings, and < in XML, are escaped.
func (p *page) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if data := b[:n]; n > 0 {
		marks := bytes.Count(data, p.mark[:])
		if p.half && data[0] == p.mark[1] {
			marks++
		}
		p.half = data[n-1] == p.mark[0]
		p.rows.Add(int64(marks))
		p.received.Add(int64(n))
	}
	if err == io.EOF {
		p.end()
	}
	return n, err
}

// Close reports what was read.
func (p *page) Close() error {
	p.end()
	return p.ReadCloser.Close()
}

func (p *page) end() {
	if !p.ended.Swap(true) {
		p.then.Page(max(p.rows.Load(), 0), p.received.Load())
	}
}
