package heat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// outcome is what became of a try.
type outcome struct {
	at       time.Duration // see [Meter.elapsed]
	millis   float64
	entities float64 // read or written
	bytes    float64 // sent and received
	weight   float64 // the number of requests that this one represents
	ok       bool
	repeated bool // the SDK sends it again
	rejected bool // throttled
}

// finish reads the reply, except for the body.
func (r *request) finish(began, at time.Duration, resp *http.Response, err error) {
	r.outcome = outcome{at: at, millis: float64(at-began) / float64(time.Millisecond), bytes: float64(r.sent), weight: 1}
	if err != nil || resp == nil {
		r.repeated = !errors.Is(err, context.Canceled)
		return
	}
	r.bytes += float64(max(resp.ContentLength, 0))
	switch status := resp.StatusCode; status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		r.repeated, r.rejected = true, true
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		r.repeated = true
	default:
		// A point read that finds no row costs as much as one that does.
		r.ok = status < http.StatusBadRequest || r.kind == kindRead && status == http.StatusNotFound
	}
	if r.ok && r.kind != kindQuery && r.kind != kindPoll && r.kind != kindOther {
		r.entities = float64(max(r.operations, 1))
	}
}

// page counts the rows of a page, or messages, while the client reads the body. A page is
// never used again, so that a client may close it twice, and while it reads.
type page struct {
	io.ReadCloser
	r       *request
	mark    [2]byte // begins each row or message
	begun   bool    // the last read ended within a mark
	counted atomic.Bool
	read    atomic.Int64 // bytes, and onePageRow for each mark
}

const onePageRow = 1 << 40

// wrap makes a page the body of resp. It takes r. Pages are allocated together: one
// allocation for many requests.
func (r *request) wrap(resp *http.Response) {
	if len(r.pages) == 0 {
		r.pages = make([]page, traceEvery)
	}
	p := &r.pages[0]
	r.pages = r.pages[1:]
	p.ReadCloser, p.r, p.mark = resp.Body, r, [2]byte{'{', '"'}
	if r.kind == kindPoll {
		p.mark = [2]byte{'<', 'I'} // InsertionTime
	}
	resp.Body = p
}

// Read counts the marks. They occur in no value, except for a string that ends with a brace:
// quotes within strings, and < in XML, are escaped.
func (p *page) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	read := int64(n)
	for data := b[:n]; len(data) > 0; {
		if p.begun && data[0] == p.mark[1] {
			read += onePageRow
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
		p.count()
	}
	return n, err
}

// Close counts what was read.
func (p *page) Close() error {
	p.count()
	return p.ReadCloser.Close()
}

// count records the page.
func (p *page) count() {
	if p.counted.Swap(true) {
		return // another request may use r
	}
	r, read := p.r, p.read.Load()
	r.entities = float64(read / onePageRow)
	if r.kind == kindQuery {
		r.entities = max(r.entities-1, 0) // the page is an object, too
	}
	r.bytes = float64(r.sent + read&(onePageRow-1))
	r.record()
}
