package regions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// probeTimeout is how long a probe waits for the primary. Its read does not wait for it.
const probeTimeout = 10 * time.Second

// errSilent is the failure of a primary that does not reply.
var errSilent = errors.New("regions: no reply")

// race is a read that one or both regions may answer. The fields below replies belong to the
// goroutine of the reader.
type race struct {
	pair      *Pair
	inner     policy.Transporter
	req       *http.Request
	latencies *latencies // of its kind
	replies   chan *reply
	done      chan struct{} // closed when the reader no longer waits

	sent   []*reply
	winner *reply
}

// reply is the outcome of one request of a race.
type reply struct {
	source Source
	probe  bool
	began  time.Time
	cancel context.CancelFunc // of the request
	detach func() bool        // of a probe: it no longer depends on the context of the reader
	ended  bool               // the reader received it
	resp   *http.Response
	err    error
}

// failed reports whether the region could not answer.
func (a *reply) failed() bool {
	return a.err != nil || a.resp.StatusCode >= http.StatusInternalServerError && a.resp.StatusCode != http.StatusNotImplemented || a.busy()
}

// busy reports whether the region refused the read because of load.
func (a *reply) busy() bool {
	if a.err != nil {
		return false
	}
	switch a.resp.StatusCode {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusRequestTimeout:
		return true
	}
	return false
}

// usable reports whether the reply answers the read. Errors of the secondary do not: it may
// be disabled, or may lack the row.
func (a *reply) usable() bool {
	if a.source.Region == Secondary {
		return a.err == nil && a.resp.StatusCode < http.StatusBadRequest
	}
	return !a.failed()
}

// absent reports whether the secondary has no such row.
func (a *reply) absent() bool {
	return a.source.Region == Secondary && a.err == nil && a.resp.StatusCode == http.StatusNotFound
}

// discard frees the connection of a reply that is not used.
func (a *reply) discard() {
	if a.resp != nil {
		_ = a.resp.Body.Close()
	}
	a.cancel()
}

// send sends the read to a region.
func (r *race) send(region Region, probe bool) {
	parent := r.req.Context()
	a := &reply{source: Source{Region: region}, probe: probe, began: time.Now()}
	ctx, cancel := context.WithCancel(parent)
	a.cancel = cancel
	if probe {
		cancel()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(parent), probeTimeout)
		a.detach = context.AfterFunc(parent, cancel)
		a.cancel = func() {
			a.detach()
			cancel()
		}
	}
	r.sent = append(r.sent, a)
	req := r.req.Clone(ctx)
	go func() {
		r.pair.carryOut(a, r.inner, req, r.latencies)
		select {
		case r.replies <- a:
		case <-r.done:
			a.discard()
		}
	}()
}

// carryOut sends req, and records what the reply of a primary shows about it.
func (p *Pair) carryOut(a *reply, inner policy.Transporter, req *http.Request, latencies *latencies) {
	if a.source.Region == Secondary {
		synced := p.before(req.Context())
		toSecondary(req)
		if a.resp, a.err = inner.Do(req); a.err == nil {
			a.source.MaxAge = ageOf(a.resp.Header, synced)
		}
		return
	}
	a.resp, a.err = inner.Do(req)
	now := time.Now()
	switch {
	case !a.failed():
		latencies.add(now.Sub(a.began))
		p.health.answered(now)
	case errors.Is(req.Context().Err(), context.Canceled) && !a.probe: // by the reader
	default:
		p.health.failed(now, loss{probe: a.probe, replied: a.err == nil, busy: a.busy()})
	}
}

// end cancels the requests that are not needed. A probe continues, because it finds out
// whether the primary is up, unless the reader has given up.
func (r *race) end() {
	for _, a := range r.sent {
		switch {
		case a == r.winner:
		case a.ended:
			a.discard()
		case !a.probe || !a.detach():
			a.cancel()
		}
	}
	close(r.done)
}

// run lets both regions answer.
func (r *race) run() *reply {
	health := &r.pair.health
	way := health.route(time.Now())
	began := time.Now()
	r.send(way.first, way.probe)
	other := Secondary
	if way.first == Secondary {
		other = Primary
	} else {
		r.pair.hedges.earn()
	}
	wait, silence := r.latencies.waits()
	if way.first == Secondary {
		wait = silence
	}
	fell := health.falling()
	if way.down {
		fell = nil
	}
	if way.probe {
		r.send(Secondary, false)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var failure, absent *reply // of the primary and of the secondary
	for open := len(r.sent); ; {
		also := false
		select {
		case <-r.req.Context().Done():
			return &reply{err: r.req.Context().Err()}
		case <-timer.C:
			timer.Reset(wait)
			also = len(r.sent) == 1 && (way.first == Secondary || r.pair.hedges.spend() || time.Since(began) >= silence && health.silent(began))
		case <-fell:
			fell, also = nil, true
		case a := <-r.replies:
			a.ended = true
			switch {
			case a.usable():
				r.overtaken(a)
				return a
			case a.absent():
				absent = a
			case a.source.Region == Primary || failure == nil:
				failure = a
			}
			if absent != nil && (way.down || failure != nil && failure.source.Region == Primary) {
				r.overtaken(absent)
				return absent
			}
			also = true
			if open--; open == 0 && len(r.sent) == 2 {
				return failure
			}
		}
		if also && len(r.sent) == 1 {
			r.send(other, false)
			open++
		}
	}
}

// overtaken records that the secondary answered before the primary did.
func (r *race) overtaken(winner *reply) {
	for _, a := range r.sent {
		if a.source.Region == Primary && a != winner && !a.ended && !a.probe {
			r.latencies.add(time.Since(a.began))
			r.pair.health.failed(time.Now(), loss{slow: true})
		}
	}
}

// bound lets only one region answer, because the read continues an earlier one there. It
// does not wait for a primary that is down.
func (r *race) bound(region Region) *reply {
	health := &r.pair.health
	if region == Primary {
		if way := health.route(time.Now()); way.down && !way.probe {
			return &reply{source: Source{Region: region}, cancel: func() {}, err: errSilent}
		} else {
			r.send(region, way.probe)
		}
	} else {
		r.send(region, false)
	}
	began := time.Now()
	_, silence := r.latencies.waits()
	timer := time.NewTimer(silence)
	defer timer.Stop()
	var fell <-chan struct{}
	if region == Primary && !r.sent[0].probe {
		fell = health.falling()
	}
	for {
		select {
		case <-r.req.Context().Done():
			return &reply{err: r.req.Context().Err()}
		case <-timer.C:
			timer.Reset(silence)
			if region == Secondary || !health.silent(began) {
				continue
			}
			health.failed(time.Now(), loss{slow: true})
		case <-fell:
		case a := <-r.replies:
			a.ended = true
			return a
		}
		return &reply{err: errSilent}
	}
}

// body cancels the context of its request when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
