package regions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// probeTimeout is how long a probe waits for the primary. Its read does not wait for it.
const probeTimeout = 10 * time.Second

// errSilent is the failure of a region that does not reply.
var errSilent = errors.New("regions: no reply")

// errTooOld is the failure of a secondary whose rows may be older than the reader accepts.
var errTooOld = errors.New("regions: the secondary is older than accepted")

// errOvertaken is why a read is cancelled if another one returned the same rows earlier.
var errOvertaken = errors.New("regions: another read was faster")

// race is a read that one or both regions may answer. It belongs to the goroutine of the reader until
// the timer ends that run sets, and then to that of the timer, until that has an answer.
type race struct {
	pair       *Pair
	inner      policy.Transporter
	req        *http.Request
	permission *permission
	latencies  *latencies // of its kind of reads
	only       Region     // that may answer, "" for both

	way            route
	began          time.Time
	delay, silence time.Duration // until the read is sent again, and until a region counts as silent
	replies        chan *reply   // nil if only the reader has sent a request
	done           chan struct{} // closed when won is set
	late           *time.Timer   // begins to wait in another goroutine
	shared         sync.Once     // makes the channels
	first          reply
	sent           []*reply // in room
	room           [3]*reply
	open           int    // requests without a reply
	asked          bool   // the read was sent again, or both regions have it
	failure        *reply // of the primary, if that has failed
	won            *reply // the answer
}

// reply is the outcome of one request of a race, with the whole body.
type reply struct {
	source Source
	probe  bool
	began  time.Time
	body   io.Reader
	part   int                // bytes of body since alive
	alive  atomic.Int64       // when a part of a long body arrived, in nanoseconds after began
	cancel context.CancelFunc // of the request
	ended  bool               // the race has received it
	resp   *http.Response
	err    error
}

// failed reports whether the region could not answer. The service sends no redirects: they are of a
// proxy, or of who pretends to be the service.
func (a *reply) failed() bool {
	if a.err != nil {
		return true
	}
	status := a.resp.StatusCode
	return status >= http.StatusMultipleChoices && (status < http.StatusBadRequest ||
		status >= http.StatusInternalServerError && status != http.StatusNotImplemented || a.busy())
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
		return a.err == nil && a.resp.StatusCode < http.StatusMultipleChoices
	}
	return !a.failed()
}

// final reports whether a reply of the secondary is returned if the primary is down: it has no
// such row, or demands another token, which the SDK then requests.
func (a *reply) final() bool {
	return a.source.Region == Secondary && a.err == nil && runtime.HasStatusCode(a.resp, http.StatusNotFound, http.StatusUnauthorized)
}

// request returns the request for a. A probe has a time limit, but not that of the reader.
func (r *race) request(a *reply) *http.Request {
	var ctx context.Context
	if a.probe {
		ctx, a.cancel = context.WithTimeout(context.WithoutCancel(r.req.Context()), probeTimeout)
	} else {
		ctx, a.cancel = context.WithCancel(r.req.Context())
	}
	r.sent = append(r.sent, a)
	r.open++
	return r.req.WithContext(ctx)
}

// send sends the read to a region in another goroutine.
func (r *race) send(region Region, probe bool) {
	a := &reply{source: Source{Region: region}, probe: probe, began: time.Now()}
	req := r.request(a)
	r.share()
	go func() {
		defer a.cancel()
		r.pair.carryOut(a, r.inner, req, r.latencies)
		r.replies <- a
	}()
}

// share makes the channels that goroutines share. There is room for all replies, so that none waits.
func (r *race) share() {
	r.shared.Do(func() { r.replies, r.done = make(chan *reply, 3), make(chan struct{}) })
}

// carryOut sends req, and records what the reply of a primary shows about it.
func (p *Pair) carryOut(a *reply, inner policy.Transporter, req *http.Request, latencies *latencies) {
	if a.source.Region == Secondary {
		synced := p.before(req.Context())
		if a.receive(inner.Do(toSecondary(req))); a.err == nil {
			a.source.MaxAge = ageOf(a.resp.Header, synced)
			if most, limited := req.Context().Value(acceptedKey{}).(time.Duration); limited && a.source.MaxAge > most {
				a.err = errTooOld
			}
		}
		return
	}
	a.receive(inner.Do(req))
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

// run lets the regions answer that may. The reader sends the first request itself, and so most reads
// take no other goroutine. That of the timer begins if this takes longer than the delay.
func (r *race) run() *reply {
	if !r.begin() {
		return &reply{err: errSilent}
	}
	defer r.end()
	if r.way.probe {
		r.send(Primary, true)
		if r.asked = r.only == ""; r.asked {
			r.send(Secondary, false)
		}
		r.wait(r.delay)
		return r.won
	}
	first := &r.first
	first.source.Region, first.began = r.way.first, r.began
	req := r.request(first)
	r.late.Reset(r.delay)
	r.pair.carryOut(first, r.inner, req, r.latencies)
	if !r.late.Stop() {
		r.share()
		r.replies <- first
		<-r.done
	} else if r.answer(first); r.won == nil {
		r.askAgain()
		r.wait(r.delay - time.Since(r.began))
	}
	return r.won
}

// hurry waits in place of the reader, whose request has taken longer than the delay.
func (r *race) hurry() {
	r.overdue()
	r.wait(r.delay)
	r.first.cancel() // the reader waits for its request
}

// end cancels the requests that are not needed. A probe continues, because it finds out
// whether the primary is up, unless the reader has given up.
func (r *race) end() {
	for _, a := range r.sent {
		if !a.probe || r.req.Context().Err() != nil {
			a.cancel()
		}
	}
}

// begin decides where the first request is sent. It reports whether there is a region to send it to.
func (r *race) begin() bool {
	r.began, r.way, r.sent = time.Now(), route{first: Secondary}, r.room[:0]
	if r.only != Secondary {
		r.way = r.pair.health.route(r.began)
	}
	if r.only == Primary {
		if r.way.down && !r.way.probe {
			return false
		}
		r.way.first = Primary
	}
	r.delay, r.silence = r.latencies.begin()
	if r.only == "" && r.way.first == Secondary {
		r.delay = r.silence
	}
	return true
}

// wait waits until there is an answer. The timer ends after d for the first time.
func (r *race) wait(d time.Duration) {
	r.share()
	timer := time.NewTimer(d)
	defer timer.Stop()
	defer close(r.done)
	for r.won == nil {
		select {
		case <-r.req.Context().Done():
			r.cancelled()
		case <-timer.C:
			timer.Reset(r.delay)
			r.overdue()
		case <-r.way.fell:
			r.way.fell = nil
			r.doWithout()
		case a := <-r.replies:
			if r.answer(a); r.won == nil {
				r.askAgain()
			}
		}
	}
}

// overdue acts if the first region has not replied before the timer ended.
func (r *race) overdue() {
	first, health := r.sent[0], &r.pair.health
	alive := first.began.Add(time.Duration(first.alive.Load()))
	switch {
	case r.only == Secondary && health.region() == Secondary:
	case time.Since(alive) >= r.silence && !r.permission.patient && (r.way.first == Secondary || health.silent(r.began)):
		r.doWithout()
	case !r.asked && r.latencies.hedge():
		r.askAgain()
	}
}

// doWithout waits no longer for the first region, which does not reply.
func (r *race) doWithout() {
	if r.only == Primary || r.permission.sticky {
		r.overtaken(nil)
		r.won = &reply{err: errSilent}
	} else {
		r.askAgain()
	}
}

// answer sets won to a, or to the failure that is the answer if no reply is left; to nothing to wait for another.
func (r *race) answer(a *reply) {
	usable := a.usable()
	if !usable && r.req.Context().Err() != nil {
		r.cancelled()
		return
	}
	a.ended = true
	r.open--
	if a.source.Region == Primary || r.failure == nil {
		r.failure = a
	}
	switch {
	case usable:
		r.overtaken(a)
		r.won = a
	case r.only != "" && r.open == 0 || r.way.down && a.final():
		r.won = a
	case r.open == 0 && r.asked:
		r.won = r.failure
	}
}

// askAgain sends the read again, to the other region if both may answer, unless that was done.
func (r *race) askAgain() {
	switch {
	case r.asked:
	case r.only == "":
		r.send(r.way.first.other(), false)
	case r.permission.sticky: // the other region cannot continue a scan
		r.send(r.only, false)
	default:
		select {
		case r.permission.slow <- struct{}{}:
		default: // another request of the page was slow, too
		}
	}
	r.asked = true
}

// cancelled sets the answer of a read that is not needed any more.
func (r *race) cancelled() {
	if context.Cause(r.req.Context()) == errOvertaken {
		r.overtaken(nil)
	}
	r.won = &reply{err: r.req.Context().Err()}
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
