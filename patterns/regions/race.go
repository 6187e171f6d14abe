package regions

import (
	"context"
	"errors"
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
	latencies  *latencies // of its kind
	only       Region     // that may answer, "" for both

	way            route
	began          time.Time
	delay, silence time.Duration // until the read is sent again, and until a region counts as silent
	timer          *time.Timer
	replies        chan *reply    // nil if only the reader has sent a request
	done           chan struct{}  // closed when no reply is awaited any more, and won is set
	late           *time.Timer    // begins to wait in another goroutine
	shared         sync.WaitGroup // until that has made the channels
	first          reply
	space          [2]*reply
	sent           []*reply
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
	return a.source.Region == Secondary && a.err == nil && (a.resp.StatusCode == http.StatusNotFound || a.resp.StatusCode == http.StatusUnauthorized)
}

// request makes a the reply of a request, and returns that.
func (r *race) request(a *reply, ctx context.Context, cancel context.CancelFunc) *http.Request {
	a.cancel = cancel
	r.sent = append(r.sent, a)
	r.open++
	return r.req.WithContext(ctx)
}

// send sends the read to a region. A probe has a time limit, but not that of the reader.
func (r *race) send(region Region, probe bool) {
	ctx, cancel := context.WithCancel(r.req.Context())
	if probe {
		cancel()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(r.req.Context()), probeTimeout)
	}
	a := &reply{source: Source{Region: region}, probe: probe, began: time.Now()}
	req := r.request(a, ctx, cancel)
	go func() {
		r.pair.carryOut(a, r.inner, req, r.latencies)
		select {
		case r.replies <- a:
		case <-r.done:
			a.cancel()
		}
	}()
}

// share makes the channels for the replies of other goroutines.
func (r *race) share() { r.replies, r.done = make(chan *reply), make(chan struct{}) }

// carryOut sends req, and records what the reply of a primary shows about it.
func (p *Pair) carryOut(a *reply, inner policy.Transporter, req *http.Request, latencies *latencies) {
	if a.source.Region == Secondary {
		synced := p.before(req.Context())
		req = req.Clone(req.Context())
		toSecondary(req)
		if a.receive(inner.Do(req)); a.err == nil {
			if a.source.MaxAge = ageOf(a.resp.Header, synced); !accepts(req.Context(), a.source.MaxAge) {
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
	r.sent = r.space[:0]
	if r.way.probe {
		r.share()
		r.send(Primary, true)
		if r.asked = r.only == ""; r.asked {
			r.send(Secondary, false)
		}
		r.wait(tooEarly, r.delay)
		return r.won
	}
	first := &r.first
	first.source.Region, first.began = r.way.first, r.began
	ctx, cancel := context.WithCancel(r.req.Context())
	req := r.request(first, ctx, cancel)
	r.shared.Add(1)
	if r.late == nil {
		r.late = time.AfterFunc(r.delay, r.hurry)
	} else {
		r.late.Reset(r.delay)
	}
	r.pair.carryOut(first, r.inner, req, r.latencies)
	if r.late.Stop() {
		r.shared.Done()
		if won := r.answer(first); won != nil {
			return won
		}
		r.share()
		r.wait(slow, r.delay-time.Since(r.began))
		return r.won
	}
	r.shared.Wait()
	select {
	case r.replies <- first:
		<-r.done
	case <-r.done:
	}
	return r.won
}

// hurry waits in place of the reader, whose request has taken longer than the delay.
func (r *race) hurry() {
	r.share()
	r.shared.Done()
	r.wait(r.timedOut(), r.delay)
	r.first.cancel() // the reader waits for its request
}

// end cancels the requests that are not needed. A probe continues, because it finds out
// whether the primary is up, unless the reader has given up.
func (r *race) end() {
	for _, a := range r.sent {
		if !a.probe || a.ended || r.req.Context().Err() != nil {
			a.cancel()
		}
	}
}

// event is why a wait goes on without an answer.
type event int

const (
	tooEarly event = iota
	slow           // the first region has not replied in time, or has failed
	silent         // the first region does not reply
)

// begin decides where the first request is sent. It reports whether there is a region to send it to.
func (r *race) begin() bool {
	r.began, r.way = time.Now(), route{first: Secondary}
	if r.only != Secondary {
		r.way = r.pair.health.route(r.began)
	}
	if r.only == Primary {
		if r.way.down && !r.way.probe {
			return false
		}
		r.way.first = Primary
	}
	r.pair.hedges.earn()
	r.delay, r.silence = r.latencies.waits()
	if r.only == "" && r.way.first == Secondary {
		r.delay = r.silence
	}
	return true
}

// wait sets won after an event. The timer ends after d for the first time.
func (r *race) wait(event event, d time.Duration) {
	r.timer = time.NewTimer(d)
	defer r.timer.Stop()
	defer close(r.done)
	for r.won == nil {
		switch {
		case event == tooEarly:
		case event == silent && (r.only == Primary || r.permission.sticky):
			r.overtaken(nil)
			r.won = &reply{err: errSilent}
			return
		default:
			r.askAgain()
		}
		event, r.won = r.next()
	}
}

// next waits for a reply, or for the time to do without it. The answer is nil if there is none yet.
func (r *race) next() (event, *reply) {
	select {
	case <-r.req.Context().Done():
		return tooEarly, r.cancelled()
	case <-r.timer.C:
		r.timer.Reset(r.delay)
		return r.timedOut(), nil
	case <-r.way.fell:
		r.way.fell = nil
		return silent, nil
	case a := <-r.replies:
		return slow, r.answer(a)
	}
}

// timedOut judges the first region, which has not replied before the timer ended.
func (r *race) timedOut() event {
	health := &r.pair.health
	switch {
	case r.only == Secondary && health.region() == Secondary:
		return tooEarly
	case time.Since(r.alive()) >= r.silence && !r.permission.patient && (r.way.first == Secondary || health.silent(r.began)):
		return silent
	case r.asked || !r.pair.hedges.spend():
		return tooEarly
	}
	return slow
}

// alive returns when the first region has last shown that it sends a reply.
func (r *race) alive() time.Time {
	return r.sent[0].began.Add(time.Duration(r.sent[0].alive.Load()))
}

// answer returns a, or the failure that is the answer if no reply is left; nil to wait for another.
func (r *race) answer(a *reply) *reply {
	if r.req.Context().Err() != nil && !a.usable() {
		return r.cancelled()
	}
	a.ended = true
	r.open--
	switch {
	case a.usable():
		r.overtaken(a)
		return a
	case r.only != "" && r.open == 0 || r.way.down && a.final():
		return a
	case a.source.Region == Primary || r.failure == nil:
		r.failure = a
	}
	if r.open == 0 && r.asked {
		return r.failure
	}
	return nil
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

// cancelled returns the answer of a read that is not needed any more.
func (r *race) cancelled() *reply {
	if context.Cause(r.req.Context()) == errOvertaken {
		r.overtaken(nil)
	}
	return &reply{err: r.req.Context().Err()}
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
