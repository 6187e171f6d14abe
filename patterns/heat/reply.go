package heat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// outcome is what became of a try.
type outcome struct {
	at       time.Time
	millis   float64
	entities float64 // read or written
	bytes    float64 // sent and received
	weight   float64 // the number of requests that this one represents
	ok       bool
	repeated bool // the SDK sends it again
	rejected bool // throttled
}

// finish reads the reply, except for the body.
func (r *request) finish(began time.Time, resp *http.Response, err error) {
	took := time.Since(began)
	r.outcome = outcome{at: began.Add(took), millis: float64(took) / float64(time.Millisecond), bytes: float64(r.sent), weight: 1}
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
		r.entities = float64(max(len(r.rows), 1))
	}
}

// What begins a row of a page, and a message. No row contains an object, and a quote within
// a value is escaped, so the rows can be counted without decoding them.
var (
	firstRow  = []byte(`"value":[{"`)
	nextRow   = []byte(`},{"`)
	messageID = []byte(`<MessageId>`)
)

// page counts the rows of a page, or messages, while the client reads the body.
type page struct {
	io.ReadCloser
	m    *Meter
	r    *request // nil after it was counted
	rows int
	read int64
	tail [16]byte // the last bytes that were read before
	kept int
	end  bool
}

func (p *page) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.r != nil && n > 0 {
		p.take(b[:n])
	}
	if err == io.EOF {
		p.end = true
		p.count()
	}
	return n, err
}

// take counts in data, and in what data and the bytes before it have in common.
func (p *page) take(data []byte) {
	p.read += int64(len(data))
	if p.r.kind == kindPoll {
		p.find(data, messageID)
	} else {
		if p.rows == 0 {
			p.find(data, firstRow)
		}
		p.find(data, nextRow)
	}
	keep := data
	if len(data) < len(p.tail) {
		p.kept = copy(p.tail[:], p.tail[max(0, p.kept+len(data)-len(p.tail)):p.kept])
	} else {
		p.kept, keep = 0, data[len(data)-len(p.tail):]
	}
	p.kept += copy(p.tail[p.kept:], keep)
}

func (p *page) find(data, what []byte) {
	p.rows += bytes.Count(data, what)
	if p.kept == 0 {
		return
	}
	before := min(p.kept, len(what)-1)
	var joint [32]byte
	n := copy(joint[:], p.tail[p.kept-before:p.kept])
	n += copy(joint[n:], data[:min(len(data), len(what)-1)])
	p.rows += bytes.Count(joint[:n], what)
}

// count records the page.
func (p *page) count() {
	if p.r == nil {
		return
	}
	p.r.entities = float64(p.rows)
	p.r.bytes = float64(p.r.sent + p.read)
	p.m.record(p.r)
	p.m.requests.Put(p.r)
	p.r = nil
}

// Close counts what was read. A page that was read to its end is used again: azcore and
// package patterns, which alone receive this body, do not touch it any more.
func (p *page) Close() error {
	p.count()
	err, m := p.ReadCloser.Close(), p.m
	if p.end {
		*p = page{ReadCloser: http.NoBody, m: m}
		m.pages.Put(p)
	}
	return err
}
