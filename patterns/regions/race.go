package regions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/azpatterns/azpatterns/internal/azerr"
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

// busy reports whether the region refused the read because of load, or a governor did not send it.
func (a *reply) busy() bool {
	resp := a.resp
	if refusal := (*azcore.ResponseError)(nil); errors.As(a.err, &refusal) {
		resp = refusal.RawResponse
	}
	return azerr.IsUnsent(a.err) || runtime.HasStatusCode(resp, http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusRequestTimeout)
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
		p.health.failed(now, loss{probe: a.probe, replied: a.err == nil || a.busy(), busy: a.busy()})
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

// run lets both regions answer, or only one of them, because the read continues an earlier one
// there.
func (r *race) run(only Region) *reply {
	health, began := &r.pair.health, time.Now()
	way := route{first: Secondary}
	if only != Secondary {
		way = health.route(began)
	}
	if only == Primary && way.down && !way.probe {
		return &reply{err: errSilent}
	}
	hedge, silence := r.latencies.waits()
	switch {
	case only == Primary:
		way.first, hedge = Primary, silence
	case way.first == Secondary:
		hedge = silence
	default:
		r.pair.hedges.earn()
	}
	var fell <-chan struct{}
	if !way.down && only != Secondary {
		fell = health.falling()
	}
	r.send(way.first, way.probe)
	if way.probe && only == "" {
		r.send(Secondary, false)
	}
	timer := time.NewTimer(hedge)
	defer timer.Stop()
	var failure *reply // of the primary, if that has failed
	for open := len(r.sent); ; {
		select {
		case <-r.req.Context().Done():
			return &reply{err: r.req.Context().Err()}
		case <-timer.C:
			timer.Reset(hedge)
			silent := time.Since(began) >= silence && health.silent(began)
			switch {
			case len(r.sent) == 2 || only == Secondary, only == Primary && !silent:
				continue
			case way.first == Primary && !silent && !r.pair.hedges.spend():
				continue
			}
		case <-fell:
			fell = nil
		case a := <-r.replies:
			a.ended = true
			open--
			switch {
			case a.usable():
				r.overtaken(a)
				return a
			case only != "":
				return a
			case way.down && a.absent():
				return a
			case a.source.Region == Primary || failure == nil:
				failure = a
			}
			if open == 0 && len(r.sent) == 2 {
				return failure
			}
		}
		switch {
		case only != "":
			r.overtaken(nil)
			return &reply{err: errSilent}
		case len(r.sent) == 1:
			open++
			if way.first == Secondary {
				r.send(Primary, false)
			} else {
				r.send(Secondary, false)
			}
		}
	}
}

// overtaken records that the read no longer waits for the primary.
func (r *race) overtaken(winner *reply) {
	for _, a := range r.sent {
		if a.source.Region == Primary && a != winner && !a.ended && !a.probe {
			r.latencies.add(time.Since(a.began))
			r.pair.health.failed(time.Now(), loss{slow: true})
		}
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
