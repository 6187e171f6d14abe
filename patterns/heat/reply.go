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
	m        *Meter
	r        atomic.Pointer[request] // nil after it was counted
	mark     [2]byte                 // begins each row or message
	half     bool                    // the last read ended within a mark
	rows     atomic.Int64
	received atomic.Int64
}

// pages are allocated together: one allocation for so many requests.
type pages struct {
	page [traceEvery]page
	used int
}

// wrap makes a page the body of resp. It takes r.
func (m *Meter) wrap(resp *http.Response, r *request) {
	all := m.pages.Get().(*pages)
	p := &all.page[all.used]
	if all.used++; all.used < len(all.page) {
		m.pages.Put(all)
	}
	p.ReadCloser, p.m, p.mark = resp.Body, m, [2]byte{'{', '"'}
	if r.kind == kindPoll {
		p.mark = [2]byte{'<', 'I'} // InsertionTime
	} else {
		p.rows.Store(-1) // the page is an object, too
	}
	p.r.Store(r)
	resp.Body = p
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
	r := p.r.Swap(nil)
	if r == nil {
		return
	}
	r.entities = float64(max(p.rows.Load(), 0))
	r.bytes = float64(r.sent + p.received.Load())
	p.m.record(r)
	p.m.requests.Put(r)
}
