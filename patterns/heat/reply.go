package heat

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/azpatterns/azpatterns/internal/target"
)

// request is one try of a request. Requests are pooled.
type request struct {
	*target.Request
	outcome
	m    *Meter
	sent int64 // bytes
}

// in returns the text of s, as far as the meter distinguishes it: a place, see [place].
func (r *request) in(s target.TextSpan) []byte {
	text := r.In(s)
	return text[:min(len(text), maxKey)]
}

// outcome is what became of a try.
type outcome struct {
	at       time.Duration // when it was sent, see [Meter.elapsed]
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
	r.outcome = outcome{at: began, millis: float64(at-began) / float64(time.Millisecond), bytes: float64(r.sent), weight: 1}
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
		r.ok = status < http.StatusBadRequest || r.Kind == target.Read && status == http.StatusNotFound
	}
	if r.ok && r.Kind != target.Query && r.Kind != target.Poll && r.Kind != target.Other {
		r.entities = float64(max(r.Entities, 1))
	}
}

// Page counts what a page contained, and records the request.
func (r *request) Page(rows, bytes int64) {
	r.entities = float64(rows)
	r.bytes = float64(r.sent + bytes)
	r.record()
}
